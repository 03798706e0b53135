package quality

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

const (
	// MinRechecks is the minimum number of instances asked about twice before anything is reported or done about it.
	MinRechecks = 30
	// positionBucketSize is the number of places of a prompt that are counted together.
	positionBucketSize = 25
	zScore95           = 1.959964 // the normal distribution's quantile for 95 %
)

// RecheckCount counts the instances about which the LLM was asked twice, and how many of the second answers differed.
type RecheckCount struct {
	RecheckedCount int `json:"rechecked"`
	DifferedCount  int `json:"differed"`
}

// Tally counts the results of rechecks. It is plain data.
type Tally struct {
	RecheckCount
	// ByInstancePosition counts by place in the prompt of the first answer: 1 to 25, 26 to 50, …
	ByInstancePosition []RecheckCount    `json:"byPosition,omitempty"`
	ByLLM              []LLMRecheckCount `json:"byLLM,omitempty"`
	Usage              turn.TokenUsage   `json:"usage,omitzero"`
	// CoveredInstanceCount counts the instances of the Requests from which rechecks were drawn, and Drawn the instances
	// that were drawn.
	CoveredInstanceCount int `json:"covered,omitempty"`
	SampledInstanceCount int `json:"drawn,omitempty"`
	RecheckFailures
}

// RecheckFailures counts the instances that were drawn for a recheck but got no second answer, with the latest reason.
type RecheckFailures struct {
	FailedCount  int    `json:"failed,omitempty"`
	LatestReason string `json:"failedBecause,omitempty"`
}

// AddFailures adds other Failures.
func (f *RecheckFailures) AddFailures(o RecheckFailures) {
	if f.FailedCount += o.FailedCount; o.FailedCount > 0 {
		f.LatestReason = o.LatestReason
	}
}

// LLMRecheckCount counts the answers of one LLM that were rechecked by another, or by itself.
type LLMRecheckCount struct {
	LLM        string `json:"llm"`
	RecheckLLM string `json:"again"`
	RecheckCount
}

// AddComparison counts one instance. Its place in the prompt counts from 1.
func (t *Tally) AddComparison(c turn.AnswerComparison) {
	bucketIndex, count := (c.InstancePositionInPrompt-1)/positionBucketSize, RecheckCount{RecheckedCount: 1}
	for len(t.ByInstancePosition) <= bucketIndex {
		t.ByInstancePosition = append(t.ByInstancePosition, RecheckCount{})
	}
	if c.HasDiffered {
		count.DifferedCount = 1
	}
	t.add(count)
	t.ByInstancePosition[bucketIndex].add(count)
	t.addLLMCount(LLMRecheckCount{c.FirstLLM, c.SecondLLM, count})
}

func (c *RecheckCount) add(o RecheckCount) {
	c.RecheckedCount, c.DifferedCount = c.RecheckedCount+o.RecheckedCount, c.DifferedCount+o.DifferedCount
}

func (t *Tally) addLLMCount(c LLMRecheckCount) {
	isSameLLM := func(o LLMRecheckCount) bool { return o.LLM == c.LLM && o.RecheckLLM == c.RecheckLLM }
	if index := slices.IndexFunc(t.ByLLM, isSameLLM); index >= 0 {
		t.ByLLM[index].add(c.RecheckCount)
	} else {
		t.ByLLM = append(t.ByLLM, c)
	}
}

// Merge adds another Tally.
func (t *Tally) Merge(o Tally) {
	t.add(o.RecheckCount)
	t.CoveredInstanceCount, t.SampledInstanceCount = t.CoveredInstanceCount+o.CoveredInstanceCount,
		t.SampledInstanceCount+o.SampledInstanceCount
	t.Usage.Add(o.Usage)
	t.AddFailures(o.RecheckFailures)
	ownCounts := t.ByInstancePosition
	t.ByInstancePosition = make([]RecheckCount, max(len(ownCounts), len(o.ByInstancePosition)))
	copy(t.ByInstancePosition, ownCounts)
	for n, c := range o.ByInstancePosition {
		t.ByInstancePosition[n].add(c)
	}
	for _, c := range o.ByLLM {
		t.addLLMCount(c)
	}
}

// ConfidenceInterval returns Wilson's 95 % confidence interval of the true share.
func (c RecheckCount) ConfidenceInterval() (low, high float64) {
	if c.RecheckedCount == 0 {
		return 0, 1
	}
	n, p := float64(c.RecheckedCount), float64(c.DifferedCount)/float64(c.RecheckedCount)
	middle := p + zScore95*zScore95/(2*n)
	halfWidth := float64(zScore95 * math.Sqrt(float64(p*(1-p))/n+zScore95*zScore95/(4*n*n)))
	return max(0, (middle-halfWidth)/(1+zScore95*zScore95/n)), min(1, (middle+halfWidth)/(1+zScore95*zScore95/n))
}

// IsDifferedShareAbove reports whether the true share is above the limit with confidence. A limit below 0 is no limit.
func (c RecheckCount) IsDifferedShareAbove(limit float64) bool {
	low, _ := c.ConfidenceInterval()
	return c.RecheckedCount >= MinRechecks && limit >= 0 && low > limit
}

func (c RecheckCount) isDifferedShareBelow(limit float64) bool {
	_, high := c.ConfidenceInterval()
	return c.RecheckedCount >= MinRechecks && high < limit
}

// DisagreementPauseFault returns why a process pauses if more second answers differed than the limit allows.
func DisagreementPauseFault(c RecheckCount, disagreementLimit float64) *diag.Fault {
	return diag.Faultf(turn.CodeDisagreement, "%s; the limit is %s %%", c, formatPercent(disagreementLimit))
}

// String describes the count in words: "of 500 asked twice 11 were decided otherwise: 2.2 %, between 1.2 and 3.9 %".
func (c RecheckCount) String() string {
	verb := "were"
	if c.DifferedCount == 1 {
		verb = "was"
	}
	text := fmt.Sprintf("of %d asked twice %d %s decided otherwise", c.RecheckedCount, c.DifferedCount, verb)
	if c.RecheckedCount < MinRechecks {
		return text + ": too few to say"
	}
	low, high := c.ConfidenceInterval()
	return fmt.Sprintf("%s: %.1f %%, between %.1f and %.1f %%", text,
		100*float64(c.DifferedCount)/float64(c.RecheckedCount), 100*low, 100*high)
}

// Report is the report on rechecks for people and programs: `quality` in a result.
type Report struct {
	RecheckCount
	DifferedShare         float64                  `json:"share"`
	DifferedShareInterval [2]float64               `json:"interval"`
	ByInstancePosition    []InstancePositionBucket `json:"byPosition"`
	ByLLM                 []LLMRecheckCount        `json:"byLLM"`
	// DisagreementLimit is the share of second answers that may differ; nil: any.
	DisagreementLimit *float64        `json:"limit,omitempty"`
	RequestSize       RequestSize     `json:"size"`
	Usage             turn.TokenUsage `json:"usage"` // of the rechecks alone
	RecheckFailures
}

// ReportMetaKey is the key in an Idea's meta with the Report of its process as of that Idea.
const ReportMetaKey = "quality"

// ReadReport reads the Report in the meta of an Idea; nil if there is none.
func ReadReport(meta jsonval.Object) (r *Report) {
	if meta[ReportMetaKey] == nil || json.Unmarshal(jsonval.Encode(meta[ReportMetaKey]), &r) != nil {
		return nil
	}
	return r
}

// InstancePositionBucket counts the rechecks at some places of the prompt, From and To included, from 1.
type InstancePositionBucket struct {
	FromPosition int `json:"from"`
	ToPosition   int `json:"to"`
	RecheckCount
}

// Report returns the report on a Tally; nil if nothing was to be asked about twice. A limit below 0 is no limit.
func (t Tally) Report(size RequestSize, disagreementLimit float64) *Report {
	if t.RecheckedCount+t.FailedCount == 0 {
		return nil
	}
	low, high := t.ConfidenceInterval()
	r := &Report{RecheckCount: t.RecheckCount, DifferedShare: roundTo3Decimals(float64(t.DifferedCount) / float64(max(1,
		t.RecheckedCount))),
		DifferedShareInterval: [2]float64{roundTo3Decimals(low), roundTo3Decimals(high)},
		ByInstancePosition:    []InstancePositionBucket{},
		ByLLM:                 append([]LLMRecheckCount{}, t.ByLLM...), RequestSize: size, Usage: t.Usage,
		RecheckFailures: t.RecheckFailures}
	for n, c := range t.ByInstancePosition {
		if c.RecheckedCount > 0 {
			r.ByInstancePosition = append(r.ByInstancePosition, InstancePositionBucket{n*positionBucketSize + 1,
				(n + 1) * positionBucketSize, c})
		}
	}
	if disagreementLimit >= 0 {
		r.DisagreementLimit = &disagreementLimit
	}
	return r
}

// Lines returns the report for people: the measurement, by place in the prompt and by LLM, and the size of Requests.
func (r *Report) Lines() []string {
	if r == nil {
		return nil
	}
	lines := []string{r.RecheckCount.String()}
	if r.DisagreementLimit != nil && r.IsDifferedShareAbove(*r.DisagreementLimit) {
		lines[0] += fmt.Sprintf(", above the limit of %s %%", formatPercent(*r.DisagreementLimit))
	}
	if r.FailedCount > 0 {
		lines = append(lines, fmt.Sprintf("%d more could not be asked twice: %s", r.FailedCount, r.LatestReason))
	}
	for _, b := range r.ByInstancePosition {
		if len(r.ByInstancePosition) > 1 {
			lines = append(lines, fmt.Sprintf("at places %d to %d of the prompt: %s", b.FromPosition, b.ToPosition,
				b.RecheckCount))
		}
	}
	for _, c := range r.ByLLM {
		if len(r.ByLLM) > 1 || c.LLM != c.RecheckLLM {
			lines = append(lines, fmt.Sprintf("answered by %s, then by %s: %s", c.LLM, c.RecheckLLM, c.RecheckCount))
		}
	}
	return append(lines, fmt.Sprintf("instances a Request: %s; rechecks took %s", r.RequestSize, r.Usage))
}

func roundTo3Decimals(number float64) float64 { return math.Round(number*1000) / 1000 }
