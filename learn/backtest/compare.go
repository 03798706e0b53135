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
	CallAdded     = "call-added"       // it did not run then, and would run now: its result is unknown
	CallMissing   = "call-missing"     // it ran then, and would not run now
	CallChanged   = "call-changed"     // it would run with other parameters
	CallUnfit     = "call-unfit"       // it ran then, and no longer fits its Tool
	NewlyAsked    = "newly-asked"      // a person would be asked, and nobody was
	NoLongerAsked = "no-longer-asked"  // no person would be asked, and one was
	OtherOutcome  = "other-outcome"    // the same Call would end otherwise
	OtherResult   = "other-result"     // the LLM would write another result
	OtherState    = "other-state"      // the same Calls would leave another State
	Unfulfilled   = "step-unfulfilled" // an unfulfilled step that was fulfilled, or not asked for
	Fulfilled     = "step-fulfilled"   // a step that was not fulfilled would be
	OtherEnd      = "other-end"        // the instance would end otherwise
	OtherOutput   = "other-output"     // the process would give another output
)

// Difference is one thing that would differ.
type Difference struct {
	Kind string `json:"kind"`
	Tool string `json:"tool,omitempty"`
	// Then and Now are the ids of the Call in the two runs.
	Then string `json:"then,omitempty"`
	Now  string `json:"now,omitempty"`
	Text string `json:"text"`
	// About is what differs, without the values that are particular to each instance.
	About string `json:"about"`
}

// compareTraces lists what differs between two runs of an instance, in the order of the graph. unknown says what cannot
// be determined.
func compareTraces(then, now *trace) (differences []Difference, unknown []string) {
	unknown = slices.Clone(now.unknown)
	pairs := matchCalls(then, now)
	for _, p := range pairs {
		switch {
		case p.open:
			unknown = append(unknown, fmt.Sprintf("%s reads what is not known", p.replayed.tool))
		case p.replayed == nil:
			d, open := missingCall(p.recorded, now)
			if open != "" {
				unknown = append(unknown, open)
				continue
			}
			differences = append(differences, d)
		default:
			differences = append(differences, p.differences()...)
		}
	}
	if now.status == "" || len(unknown) > 0 {
		return differences, unknown
	}
	differences = append(differences, compareSteps(then.steps, now.steps)...)
	if now.status != then.status && (now.fault == nil || now.fault.Code != turn.CodeUnfulfilled) { // the step is named
		text := fmt.Sprintf("it would end %s, and %s", now.status, then.status)
		if now.fault != nil {
			text += ": " + now.fault.Message
		}
		differences = append(differences,
			Difference{Kind: OtherEnd, Text: text, About: fmt.Sprintf("instances that would end %s", now.status)})
	}
	if d, differs := compareStates(then, now, pairs); differs && len(differences) == 0 {
		differences = append(differences, d)
	}
	return differences, unknown
}

// compareSteps lists the steps of instructions that are unfulfilled in only one of two runs.
func compareSteps(then, now []ideafile.StepOutcome) (list []Difference) {
	for _, o := range now {
		was := slices.ContainsFunc(then, func(t ideafile.StepOutcome) bool {
			return t.File == o.File && t.Step == o.Step && t.Outcome == ideafile.StepUnfulfilled
		})
		about := fmt.Sprintf("step %s of %s would ", o.Step, o.File)
		switch {
		case o.Outcome == ideafile.StepUnfulfilled && !was:
			about += "not be fulfilled"
			list = append(list, Difference{Kind: Unfulfilled, About: about, Text: about + ": " + o.Why})
		case o.Outcome != ideafile.StepUnfulfilled && was:
			about += "be " + o.Outcome + ", and was not fulfilled"
			list = append(list, Difference{Kind: Fulfilled, About: about, Text: about})
		}
	}
	return list
}

// missingCall describes a Call of the past that would not run. If the Call may still come, open says so instead.
func missingCall(c *tracedCall, now *trace) (d Difference, open string) {
	d = Difference{Kind: CallMissing, Tool: c.tool, Then: c.id, About: c.tool + " would not run",
		Text: fmt.Sprintf("%s would not run; it ran with %s", c.tool, briefJSON(c.params))}
	for _, other := range now.calls {
		if other.tool != c.tool || other.matters() || other.reason == "" {
			continue
		}
		d.Now = other.id
		if other.fault != nil && other.fault.Code != ideafile.CodeBlocked {
			d.Kind, d.About = CallUnfit, c.tool+" no longer fits"
			d.Text = fmt.Sprintf("%s with %s no longer fits: %s", c.tool, briefJSON(c.params), other.reason)
			return d, ""
		}
		d.Text += ": " + other.reason
		return d, ""
	}
	if len(now.unknown) > 0 || !now.direct && now.status == "" {
		return d, c.tool + " may come later"
	}
	return d, ""
}

// differences lists what differs in a Call.
func (p *pair) differences() (list []Difference) {
	add := func(kind, about, format string, args ...any) {
		d := Difference{Kind: kind, Tool: p.replayed.tool, Now: p.replayed.id, About: p.replayed.tool + " " + about,
			Text: p.replayed.tool + " " + fmt.Sprintf(format, args...)}
		if p.recorded != nil {
			d.Then = p.recorded.id
		}
		list = append(list, d)
	}
	shown := briefJSON(p.replayed.params)
	if p.recorded == nil {
		add(CallAdded, "would run, and did not", "would run with %s, and did not: its result is not known", shown)
		if p.replayed.asked {
			add(NewlyAsked, "would be asked about", "with %s would be asked about; it did not run then", shown)
		}
		return list
	}
	if p.changed {
		names, text := changedParams(p.recorded.params, p.replayed.params)
		add(CallChanged, "would have another "+names, "would have %s", text)
	}
	switch {
	case p.replayed.asked && !p.recorded.asked:
		add(NewlyAsked, "would be asked about", "with %s would be asked about, and was not", shown)
	case p.recorded.asked && !p.replayed.asked:
		add(NoLongerAsked, "would not be asked about", "with %s would not be asked about: %s", shown,
			decisionsText(p.recorded.decisions))
	}
	switch {
	case p.changed || p.replayed.unknown:
	case p.replayed.status != p.recorded.status:
		add(OtherOutcome, fmt.Sprintf("would be %s, and was %s", p.replayed.status, p.recorded.status),
			"with %s would be %s, and was %s%s",
			shown, p.replayed.status, p.recorded.status, reasonOf(p.replayed))
	case p.replayed.hasResult && p.recorded.hasResult && !jsonval.Equal(p.replayed.result, p.recorded.result):
		add(OtherResult, "would have another result", "with %s would have the result %s, and had %s", shown,
			briefJSON(p.replayed.result), briefJSON(p.recorded.result))
	}
	return list
}

func reasonOf(c *tracedCall) string {
	if c.fault == nil {
		return ""
	}
	return ": " + c.fault.Message
}

// decisionsText describes the decisions that people took.
func decisionsText(decisions []approval.Decision) string {
	var parts []string
	for _, d := range decisions {
		by := d.DecidedBy
		if by == "" {
			by = "somebody"
		}
		parts = append(parts, by+" "+d.PastTense()+" it")
	}
	if len(parts) == 0 {
		return "a person was"
	}
	return strings.Join(parts, ", ")
}

// changedParams names the parameters that differ, and describes how they differ.
func changedParams(then, now jsonval.Object) (names, text string) {
	keys, parts := past.DifferingKeys(then, now), []string{}
	for _, k := range keys {
		was, had := then[k]
		is, has := now[k]
		switch {
		case !had:
			parts = append(parts, fmt.Sprintf("%s %s, and had none", k, briefJSON(is)))
		case !has:
			parts = append(parts, fmt.Sprintf("no %s, and had %s", k, briefJSON(was)))
		default:
			parts = append(parts, fmt.Sprintf("%s %s, and had %s", k, briefJSON(is), briefJSON(was)))
		}
	}
	return strings.Join(keys, ", "), strings.Join(parts, "; ")
}

const maxValueLength = 80 // characters of a value in a text

// briefJSON is a value as JSON, cut to maxValueLength.
func briefJSON(v any) string { return jsonval.Clip(jsonval.EncodeToString(v), maxValueLength) }

// compareStates compares what two runs with the same Calls left in State, even if their output paths differ.
func compareStates(then, now *trace, pairs []*pair) (Difference, bool) {
	was := then.state
	for _, p := range pairs {
		if p.recorded == nil || p.replayed == nil {
			continue
		}
		from, to := p.recorded.output.Paths(), p.replayed.output.Paths()
		for n := range min(len(from), len(to)) {
			v, ok := jsonval.ValueAt(was, from[n])
			if !ok || len(from[n]) == 0 || from[n].String() == to[n].String() {
				continue
			}
			if moved, done := jsonval.SetAt(removeValue(was, from[n], true), to[n], v); done {
				was = moved
			}
		}
	}
	names := past.DifferingPaths(was, now.state)
	if len(names) == 0 {
		return Difference{}, false
	}
	what := strings.Join(names, ", ")
	return Difference{Kind: OtherState, Text: "the same Calls would leave another value in " + what,
		About: "another value in " + what}, true
}
