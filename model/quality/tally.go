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
	z95                = 1.959964 // the normal distribution's quantile for 95 %
)

// Count counts the instances about which the LLM was asked twice, and how many of the second answers differed.
type Count struct {
	Rechecked int `json:"rechecked"`
	Differed  int `json:"differed"`
}

// Tally counts the results of rechecks. It is plain data.
type Tally struct {
	Count
	// ByPosition counts by place in the prompt of the first answer: 1 to 25, 26 to 50, …
	ByPosition []Count         `json:"byPosition,omitempty"`
	ByLLM      []LLMCount      `json:"byLLM,omitempty"`
	Usage      turn.TokenUsage `json:"usage,omitzero"`
	// CoveredCount counts the instances of the Requests from which rechecks were drawn, and Drawn the instances that
	// were drawn.
	CoveredCount int `json:"covered,omitempty"`
	SampledCount int `json:"drawn,omitempty"`
	Failures
}

// Failures counts the instances that were drawn for a recheck but got no second answer, with the latest reason.
type Failures struct {
	Failed int    `json:"failed,omitempty"`
	Reason string `json:"failedBecause,omitempty"`
}

// AddFailures adds other Failures.
func (f *Failures) AddFailures(o Failures) {
	if f.Failed += o.Failed; o.Failed > 0 {
		f.Reason = o.Reason
	}
}

// LLMCount counts the answers of one LLM that were rechecked by another, or by itself.
type LLMCount struct {
	LLM        string `json:"llm"`
	RecheckLLM string `json:"again"`
	Count
}

// Add counts one instance. Its place in the prompt counts from 1.
func (t *Tally) Add(c turn.AnswerComparison) {
	bucket, count := (c.Position-1)/positionBucketSize, Count{Rechecked: 1}
	for len(t.ByPosition) <= bucket {
		t.ByPosition = append(t.ByPosition, Count{})
	}
	if c.Differed {
		count.Differed = 1
	}
	t.add(count)
	t.ByPosition[bucket].add(count)
	t.addLLM(LLMCount{c.FirstLLM, c.SecondLLM, count})
}

func (c *Count) add(o Count) {
	c.Rechecked, c.Differed = c.Rechecked+o.Rechecked, c.Differed+o.Differed
}

func (t *Tally) addLLM(c LLMCount) {
	isSameLLM := func(o LLMCount) bool { return o.LLM == c.LLM && o.RecheckLLM == c.RecheckLLM }
	if index := slices.IndexFunc(t.ByLLM, isSameLLM); index >= 0 {
		t.ByLLM[index].add(c.Count)
	} else {
		t.ByLLM = append(t.ByLLM, c)
	}
}

// Merge adds another Tally.
func (t *Tally) Merge(o Tally) {
	t.add(o.Count)
	t.CoveredCount, t.SampledCount = t.CoveredCount+o.CoveredCount, t.SampledCount+o.SampledCount
	t.Usage.Add(o.Usage)
	t.AddFailures(o.Failures)
	ownCounts := t.ByPosition
	t.ByPosition = make([]Count, max(len(ownCounts), len(o.ByPosition)))
	copy(t.ByPosition, ownCounts)
	for n, c := range o.ByPosition {
		t.ByPosition[n].add(c)
	}
	for _, c := range o.ByLLM {
		t.addLLM(c)
	}
}

// Interval returns Wilson's 95 % confidence interval of the true share.
func (c Count) Interval() (low, high float64) {
	if c.Rechecked == 0 {
		return 0, 1
	}
	n, p := float64(c.Rechecked), float64(c.Differed)/float64(c.Rechecked)
	middle := p + z95*z95/(2*n)
	half := float64(z95 * math.Sqrt(float64(p*(1-p))/n+z95*z95/(4*n*n)))
	return max(0, (middle-half)/(1+z95*z95/n)), min(1, (middle+half)/(1+z95*z95/n))
}

// IsAbove reports whether the true share is above the limit with confidence. A limit below 0 is no limit.
func (c Count) IsAbove(limit float64) bool {
	low, _ := c.Interval()
	return c.Rechecked >= MinRechecks && limit >= 0 && low > limit
}

func (c Count) isBelow(limit float64) bool {
	_, high := c.Interval()
	return c.Rechecked >= MinRechecks && high < limit
}

// PauseFault returns why a process pauses if more second answers differed than the limit allows.
func PauseFault(c Count, limit float64) *diag.Fault {
	return diag.Faultf(turn.CodeDisagreement, "%s; the limit is %s %%", c, formatPercent(limit))
}

// String describes the Count in words: "of 500 asked twice 11 were decided otherwise: 2.2 %, between 1.2 and 3.9 %".
func (c Count) String() string {
	verb := "were"
	if c.Differed == 1 {
		verb = "was"
	}
	text := fmt.Sprintf("of %d asked twice %d %s decided otherwise", c.Rechecked, c.Differed, verb)
	if c.Rechecked < MinRechecks {
		return text + ": too few to say"
	}
	low, high := c.Interval()
	return fmt.Sprintf("%s: %.1f %%, between %.1f and %.1f %%", text,
		100*float64(c.Differed)/float64(c.Rechecked), 100*low, 100*high)
}

// Report is the report on rechecks for people and programs: `quality` in a result.
type Report struct {
	Count
	Share      float64    `json:"share"`
	Interval   [2]float64 `json:"interval"`
	ByPosition []Bucket   `json:"byPosition"`
	ByLLM      []LLMCount `json:"byLLM"`
	// Limit is the share of second answers that may differ; nil: any.
	Limit *float64        `json:"limit,omitempty"`
	Size  Size            `json:"size"`
	Usage turn.TokenUsage `json:"usage"` // of the rechecks alone
	Failures
}

// MetaKey is the key in an Idea's meta with the Report of its process as of that Idea.
const MetaKey = "quality"

// ReadReport reads the Report in the meta of an Idea; nil if there is none.
func ReadReport(meta jsonval.Object) (r *Report) {
	if meta[MetaKey] == nil || json.Unmarshal(jsonval.Encode(meta[MetaKey]), &r) != nil {
		return nil
	}
	return r
}

// Bucket counts the rechecks at some places of the prompt, From and To included, from 1.
type Bucket struct {
	FromPosition int `json:"from"`
	ToPosition   int `json:"to"`
	Count
}

// Report returns the report on a Tally; nil if nothing was to be asked about twice. A limit below 0 is no limit.
func (t Tally) Report(size Size, limit float64) *Report {
	if t.Rechecked+t.Failed == 0 {
		return nil
	}
	low, high := t.Interval()
	r := &Report{Count: t.Count, Share: roundShare(float64(t.Differed) / float64(max(1, t.Rechecked))),
		Interval: [2]float64{roundShare(low), roundShare(high)}, ByPosition: []Bucket{},
		ByLLM: append([]LLMCount{}, t.ByLLM...), Size: size, Usage: t.Usage, Failures: t.Failures}
	for n, c := range t.ByPosition {
		if c.Rechecked > 0 {
			r.ByPosition = append(r.ByPosition, Bucket{n*positionBucketSize + 1, (n + 1) * positionBucketSize, c})
		}
	}
	if limit >= 0 {
		r.Limit = &limit
	}
	return r
}

// Lines returns the report for people: the measurement, by place in the prompt and by LLM, and the size of Requests.
func (r *Report) Lines() []string {
	if r == nil {
		return nil
	}
	lines := []string{r.Count.String()}
	if r.Limit != nil && r.IsAbove(*r.Limit) {
		lines[0] += fmt.Sprintf(", above the limit of %s %%", formatPercent(*r.Limit))
	}
	if r.Failed > 0 {
		lines = append(lines, fmt.Sprintf("%d more could not be asked twice: %s", r.Failed, r.Reason))
	}
	for _, b := range r.ByPosition {
		if len(r.ByPosition) > 1 {
			lines = append(lines, fmt.Sprintf("at places %d to %d of the prompt: %s", b.FromPosition, b.ToPosition,
				b.Count))
		}
	}
	for _, c := range r.ByLLM {
		if len(r.ByLLM) > 1 || c.LLM != c.RecheckLLM {
			lines = append(lines, fmt.Sprintf("answered by %s, then by %s: %s", c.LLM, c.RecheckLLM, c.Count))
		}
	}
	return append(lines, fmt.Sprintf("instances a Request: %s; rechecks took %s", r.Size, r.Usage))
}

func roundShare(share float64) float64 { return math.Round(share*1000) / 1000 }
