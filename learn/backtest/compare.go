package backtest

import (
	"fmt"
	"slices"
	"strings"

	"processidea/learn/past"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// The kinds of differences.
const (
	CallAdded          = "call-added"       // it did not run then, and would run now: its result is unknown
	CallMissing        = "call-missing"     // it ran then, and would not run now
	CallChanged        = "call-changed"     // it would run with other parameters
	CallInvalid        = "call-unfit"       // it ran then, and no longer fits its Tool
	ApprovalAdded      = "newly-asked"      // a person would be asked, and nobody was
	ApprovalDropped    = "no-longer-asked"  // no person would be asked, and one was
	OutcomeChanged     = "other-outcome"    // the same Call would end otherwise
	ResultChanged      = "other-result"     // the LLM would write another result
	StateChanged       = "other-state"      // the same Calls would leave another State
	StepUnfulfilled    = "step-unfulfilled" // an unfulfilled step that was fulfilled, or not asked for
	StepFulfilled      = "step-fulfilled"   // a step that was not fulfilled would be
	InstanceEndChanged = "other-end"        // the instance would end otherwise
	OutputChanged      = "other-output"     // the process would give another output
)

// Difference is one thing that would differ.
type Difference struct {
	Kind string `json:"kind"`
	Tool string `json:"tool,omitempty"`
	// RecordedID and Now are the ids of the Call in the two runs.
	RecordedID string `json:"then,omitempty"`
	ReplayedID string `json:"now,omitempty"`
	Text       string `json:"text"`
	// CommonText is what differs, without the values that are particular to each instance.
	CommonText string `json:"about"`
}

// compareTraces lists what differs between two runs of an instance, in the order of the graph. unknownReasons says what
// cannot be determined.
func compareTraces(recorded, replayed *runTrace) (differences []Difference, unknownReasons []string) {
	unknownReasons = slices.Clone(replayed.otherUnknownReasons)
	pairs := matchCalls(recorded, replayed)
	for _, p := range pairs {
		switch {
		case p.readsUnknownValue:
			unknownReasons = append(unknownReasons, fmt.Sprintf("%s reads what is not known", p.replayed.tool))
		case p.replayed == nil:
			d, unknownReason := describeMissingCall(p.recorded, replayed)
			if unknownReason != "" {
				unknownReasons = append(unknownReasons, unknownReason)
				continue
			}
			differences = append(differences, d)
		default:
			differences = append(differences, p.differences()...)
		}
	}
	if replayed.status == "" || len(unknownReasons) > 0 {
		return differences, unknownReasons
	}
	differences = append(differences, compareStepOutcomes(recorded.stepOutcomes, replayed.stepOutcomes)...)
	// the step is named
	if replayed.status != recorded.status && (replayed.fault == nil ||
		replayed.fault.Code != turn.CodeStepUnfulfilled) {
		text := fmt.Sprintf("it would end %s, and %s", replayed.status, recorded.status)
		if replayed.fault != nil {
			text += ": " + replayed.fault.Message
		}
		differences = append(differences,
			Difference{Kind: InstanceEndChanged, Text: text, CommonText: fmt.Sprintf("instances that would end %s",
				replayed.status)})
	}
	if d, differs := compareStates(recorded, replayed, pairs); differs && len(differences) == 0 {
		differences = append(differences, d)
	}
	return differences, unknownReasons
}

// compareStepOutcomes lists the steps of instructions that are unfulfilled in only one of two runs.
func compareStepOutcomes(recorded, replayed []ideafile.StepOutcome) (list []Difference) {
	for _, o := range replayed {
		wasUnfulfilled := slices.ContainsFunc(recorded, func(t ideafile.StepOutcome) bool {
			return t.File == o.File && t.StepID == o.StepID && t.Outcome == ideafile.StepOutcomeUnfulfilled
		})
		commonText := fmt.Sprintf("step %s of %s would ", o.StepID, o.File)
		switch {
		case o.Outcome == ideafile.StepOutcomeUnfulfilled && !wasUnfulfilled:
			commonText += "not be fulfilled"
			list = append(list, Difference{Kind: StepUnfulfilled, CommonText: commonText,
				Text: commonText + ": " + o.Reason})
		case o.Outcome != ideafile.StepOutcomeUnfulfilled && wasUnfulfilled:
			commonText += "be " + o.Outcome + ", and was not fulfilled"
			list = append(list, Difference{Kind: StepFulfilled, CommonText: commonText, Text: commonText})
		}
	}
	return list
}

// describeMissingCall describes a Call of the past that would not run. If the Call may still come, unknownReason says
// so instead.
func describeMissingCall(c *tracedCall, replayed *runTrace) (d Difference, unknownReason string) {
	d = Difference{Kind: CallMissing, Tool: c.tool, RecordedID: c.id, CommonText: c.tool + " would not run",
		Text: fmt.Sprintf("%s would not run; it ran with %s", c.tool, briefJSON(c.params))}
	for _, other := range replayed.calls {
		if other.tool != c.tool || other.hasEffect() || other.notRunReason == "" {
			continue
		}
		d.ReplayedID = other.id
		if other.fault != nil && other.fault.Code != ideafile.CodeBlocked {
			d.Kind, d.CommonText = CallInvalid, c.tool+" no longer fits"
			d.Text = fmt.Sprintf("%s with %s no longer fits: %s", c.tool, briefJSON(c.params), other.notRunReason)
			return d, ""
		}
		d.Text += ": " + other.notRunReason
		return d, ""
	}
	if len(replayed.otherUnknownReasons) > 0 || !replayed.isDirectPlan && replayed.status == "" {
		return d, c.tool + " may come later"
	}
	return d, ""
}

// differences lists what differs in a Call.
func (p *callPair) differences() (list []Difference) {
	addDifference := func(kind, commonText, format string, args ...any) {
		d := Difference{Kind: kind, Tool: p.replayed.tool, ReplayedID: p.replayed.id,
			CommonText: p.replayed.tool + " " + commonText, Text: p.replayed.tool + " " + fmt.Sprintf(format, args...)}
		if p.recorded != nil {
			d.RecordedID = p.recorded.id
		}
		list = append(list, d)
	}
	paramsText := briefJSON(p.replayed.params)
	if p.recorded == nil {
		addDifference(CallAdded, "would run, and did not", "would run with %s, and did not: its result is not known",
			paramsText)
		if p.replayed.isPersonAsked {
			addDifference(ApprovalAdded, "would be asked about", "with %s would be asked about; it did not run then",
				paramsText)
		}
		return list
	}
	if p.haveDifferentParams {
		names, text := changedParams(p.recorded.params, p.replayed.params)
		addDifference(CallChanged, "would have another "+names, "would have %s", text)
	}
	switch {
	case p.replayed.isPersonAsked && !p.recorded.isPersonAsked:
		addDifference(ApprovalAdded, "would be asked about", "with %s would be asked about, and was not", paramsText)
	case p.recorded.isPersonAsked && !p.replayed.isPersonAsked:
		addDifference(ApprovalDropped, "would not be asked about", "with %s would not be asked about: %s", paramsText,
			decisionsText(p.recorded.decisions))
	}
	switch {
	case p.haveDifferentParams || p.replayed.isResultUnknown:
	case p.replayed.status != p.recorded.status:
		addDifference(OutcomeChanged, fmt.Sprintf("would be %s, and was %s", p.replayed.status, p.recorded.status),
			"with %s would be %s, and was %s%s",
			paramsText, p.replayed.status, p.recorded.status, faultSuffix(p.replayed))
	case p.replayed.hasResult && p.recorded.hasResult && !jsonval.Equal(p.replayed.result, p.recorded.result):
		addDifference(ResultChanged, "would have another result", "with %s would have the result %s, and had %s",
			paramsText,
			briefJSON(p.replayed.result), briefJSON(p.recorded.result))
	}
	return list
}

func faultSuffix(c *tracedCall) string {
	if c.fault == nil {
		return ""
	}
	return ": " + c.fault.Message
}

// decisionsText describes the decisions that people took.
func decisionsText(decisions []approval.Decision) string {
	var parts []string
	for _, d := range decisions {
		decider := d.DecidedBy
		if decider == "" {
			decider = "somebody"
		}
		parts = append(parts, decider+" "+d.PastTense()+" it")
	}
	if len(parts) == 0 {
		return "a person was"
	}
	return strings.Join(parts, ", ")
}

// changedParams names the parameters that differ, and describes how they differ.
func changedParams(recorded, replayed jsonval.Object) (names, text string) {
	keys, parts := past.DifferingKeys(recorded, replayed), []string{}
	for _, k := range keys {
		oldValue, inOld := recorded[k]
		newValue, inNew := replayed[k]
		switch {
		case !inOld:
			parts = append(parts, fmt.Sprintf("%s %s, and had none", k, briefJSON(newValue)))
		case !inNew:
			parts = append(parts, fmt.Sprintf("no %s, and had %s", k, briefJSON(oldValue)))
		default:
			parts = append(parts, fmt.Sprintf("%s %s, and had %s", k, briefJSON(newValue), briefJSON(oldValue)))
		}
	}
	return strings.Join(keys, ", "), strings.Join(parts, "; ")
}

const maxBriefJSONChars = 80 // characters of a value in a text

// briefJSON is a value as JSON, cut to maxBriefJSONChars.
func briefJSON(v any) string { return jsonval.Clip(jsonval.EncodeToString(v), maxBriefJSONChars) }

// compareStates compares what two runs with the same Calls left in State, even if their output paths differ.
func compareStates(recorded, replayed *runTrace, pairs []*callPair) (Difference, bool) {
	expectedState := recorded.state
	for _, p := range pairs {
		if p.recorded == nil || p.replayed == nil {
			continue
		}
		recordedPaths, replayedPaths := p.recorded.outputPath.Paths(), p.replayed.outputPath.Paths()
		for n := range min(len(recordedPaths), len(replayedPaths)) {
			v, ok := jsonval.ValueAt(expectedState, recordedPaths[n])
			if !ok || len(recordedPaths[n]) == 0 || recordedPaths[n].String() == replayedPaths[n].String() {
				continue
			}
			if movedState, isDone := jsonval.SetAt(withoutValue(expectedState, recordedPaths[n], true),
				replayedPaths[n],
				v); isDone {
				expectedState = movedState
			}
		}
	}
	differingPaths := past.DifferingPaths(expectedState, replayed.state)
	if len(differingPaths) == 0 {
		return Difference{}, false
	}
	pathsText := strings.Join(differingPaths, ", ")
	return Difference{Kind: StateChanged, Text: "the same Calls would leave another value in " + pathsText,
		CommonText: "another value in " + pathsText}, true
}
