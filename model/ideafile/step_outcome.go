package ideafile

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// Outcomes of a step in an instance.
const (
	StepOutcomeFulfilled     = "fulfilled"
	StepOutcomeUnfulfilled   = "unfulfilled"
	StepOutcomeNotApplicable = "notApplicable" // its `when` does not hold
	// nothing is required, or values are too large, or too many, to be looked at
	StepOutcomeUnchecked = "unchecked"
)

// StepOutcome is the outcome of one step of an instruction in an instance.
type StepOutcome struct {
	File    string `json:"file"`
	Version string `json:"version,omitempty"`
	StepID  string `json:"step"`
	Outcome string `json:"outcome"`
	Reason  string `json:"why,omitempty"` // why the step is not fulfilled
}

// evidenceKeys are the keys of the object that `require` is checked against.
var evidenceKeys = []string{TypeState, "calls"}

// StepOutcomes returns the outcome of each step, given what an instance sees, with its State, and its Calls, each with
// `tool`, `status`, `params` and `output`.
func (i *Instruction) StepOutcomes(view jsonval.Object, calls []any) (list []StepOutcome) {
	evidence := jsonval.Object{TypeState: view[TypeState], "calls": calls}
	for _, s := range i.Steps {
		o := StepOutcome{File: i.FilePath, Version: i.Version, StepID: s.ID, Outcome: StepOutcomeFulfilled}
		applies, err := s.ViewCondition.Matches(view)
		evidenceErr := s.EvidenceSchema.Validate(evidence)
		if evidenceErr != nil && err == nil {
			_, err = s.EvidenceSchema.Matches(evidence) // an error means that it cannot be decided
		}
		switch {
		case err != nil, !applies && jsonval.ContainsBlobHandle(view), applies && s.EvidenceSchema == nil,
			applies && evidenceErr != nil && jsonval.ContainsBlobHandle(evidence),
			applies && !s.ViewCondition.MatchesForAnyBlobs(view),
			applies && evidenceErr == nil && !s.EvidenceSchema.MatchesForAnyBlobs(evidence):
			o.Outcome = StepOutcomeUnchecked
		case !applies:
			o.Outcome = StepOutcomeNotApplicable
		case evidenceErr != nil:
			o.Outcome, o.Reason = StepOutcomeUnfulfilled, jsonval.Clip(evidenceErr.Error(), maxStepReasonRunes)
		}
		list = append(list, o)
	}
	return list
}

func readStepOutcomes(v any) (list []StepOutcome) {
	_ = jsonval.ReadAs(v, &list) // malformed outcomes: as far as they can be read
	return list
}

// maxStepReasonRunes bounds, in characters, the reason that is kept for an unfulfilled step.
const maxStepReasonRunes = 300

// UnfulfilledOutcomes picks the steps that apply and are not fulfilled.
func UnfulfilledOutcomes(outcomes []StepOutcome) []StepOutcome {
	return jsonval.Filter(outcomes, func(o StepOutcome) bool { return o.Outcome == StepOutcomeUnfulfilled })
}

// StepCount counts the instances in which a step of an instruction was fulfilled, or was not.
type StepCount struct {
	File          string `json:"file"`
	Version       string `json:"version,omitempty"`
	StepID        string `json:"step"`
	Fulfilled     int    `json:"fulfilled"`
	Unfulfilled   int    `json:"unfulfilled"`
	NotApplicable int    `json:"notApplicable"`
	Unchecked     int    `json:"unchecked,omitempty"`
}

// String describes the count in a sentence.
func (c StepCount) String() string {
	name := fmt.Sprintf("step %s of %s", c.StepID, c.File)
	if c.Version != "" {
		name += " (version " + c.Version + ")"
	}
	var parts []string
	for _, p := range []struct {
		what string
		n    int
	}{{"fulfilled", c.Fulfilled}, {"not fulfilled", c.Unfulfilled}, {"did not apply", c.NotApplicable},
		{"not checked", c.Unchecked}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", p.what, p.n))
		}
	}
	if parts == nil {
		return name + ": no instance has ended"
	}
	return name + ": " + strings.Join(parts, ", ")
}

// StepCountsMetaKey is the key of the StepCounts in the meta of an Idea that people are shown.
const StepCountsMetaKey = "instructions"

// StepCounts are in the order in which the steps are first counted.
type StepCounts []StepCount

// ZeroStepCounts returns zero counts for the steps of the instructions that all instances of a context must heed.
func ZeroStepCounts(context []Message) (c StepCounts) {
	for _, i := range InstructionsFor(context, "") {
		for _, s := range i.Steps {
			c = append(c, StepCount{File: i.FilePath, Version: i.Version, StepID: s.ID})
		}
	}
	return c
}

// CountStepOutcomes counts the outcomes of steps in the ended instances of a context.
func CountStepOutcomes(context []Message) StepCounts {
	c := ZeroStepCounts(context)
	for _, m := range context {
		c = c.WithOutcomes(m.InstanceStepOutcomes)
	}
	return c
}

// WithOutcomes returns the counts with the outcomes of one more instance added.
func (c StepCounts) WithOutcomes(outcomes []StepOutcome) StepCounts {
	for _, o := range outcomes {
		count := StepCount{File: o.File, Version: o.Version, StepID: o.StepID}
		switch o.Outcome {
		case StepOutcomeFulfilled:
			count.Fulfilled = 1
		case StepOutcomeUnfulfilled:
			count.Unfulfilled = 1
		case StepOutcomeNotApplicable:
			count.NotApplicable = 1
		default:
			count.Unchecked = 1
		}
		c = c.Merge(StepCounts{count})
	}
	return c
}

// Merge returns the counts with others, of other instances, added.
func (c StepCounts) Merge(others StepCounts) StepCounts {
	c = slices.Clone(c)
	for _, o := range others {
		index := slices.IndexFunc(c, func(k StepCount) bool {
			return k.File == o.File && k.Version == o.Version && k.StepID == o.StepID
		})
		if index < 0 {
			c = append(c, o)
			continue
		}
		c[index].Fulfilled += o.Fulfilled
		c[index].Unfulfilled += o.Unfulfilled
		c[index].NotApplicable += o.NotApplicable
		c[index].Unchecked += o.Unchecked
	}
	return c
}
