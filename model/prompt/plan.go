package prompt

import (
	"fmt"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// This file shows the LLM the Plans that come with the file, as guides.

// plans shows the Plans that guide, with what became of their Calls. Those that ran directly stand among the Calls so far.
func (w *promptWriter) plans() {
	var guides []ideafile.Message
	for _, m := range w.idea.Context {
		if m.Type == ideafile.TypePlan && !m.RunsDirectly() && (m.Instance == "" || w.covers(m.Instance)) {
			guides = append(guides, m)
		}
	}
	if len(guides) > 1 {
		w.title("Plans")
		w.line("These are alternatives: pick the one that fits, as the instructions say.")
	}
	for _, m := range guides {
		title := strings.TrimSpace("Plan to follow, extend or drop " + m.Name)
		if m.Instance != "" {
			title += at(m.Instance)
		}
		w.title(title)
		if m.When != nil {
			w.line("It is meant where this schema holds over what an instance sees: %s", jsonval.Encode(m.When.Source))
		}
		for n, c := range m.Calls {
			w.line("- %s%s", w.value(c.Value()), w.fate(m, n+1, c))
		}
	}
}

func (w *promptWriter) covers(token string) bool {
	for _, c := range w.brief.Instances {
		if c.Token == token {
			return true
		}
	}
	return false
}

// fate says of a guide's Call what is known of it: its record, or that its value is there already.
func (w *promptWriter) fate(plan ideafile.Message, index int, call ideafile.WrittenCall) string {
	if id, ok := plan.RecordedCallID(index); ok {
		switch how := plan.Record[id].(type) {
		case string:
			return ": " + how
		case map[string]any:
			return ": " + string(jsonval.Encode(how))
		}
	}
	there := 0
	for _, c := range w.brief.Instances {
		if valueThere(w.idea, call, c) {
			there++
		}
	}
	switch {
	case there == 0:
		return ""
	case w.anonymous():
		return ": its value is there"
	}
	return fmt.Sprintf(": its value is there in %d of %d", there, len(w.brief.Instances))
}

// valueThere says whether what a Call, as written, would bring stands in a State already.
func valueThere(i *ideafile.Idea, call ideafile.WrittenCall, in turn.InstanceInput) bool {
	output, ok := i.OutputPathOf(call)
	if !ok || call.TargetsOther(in.Token) {
		return false
	}
	for _, branch := range output {
		all := true
		for _, p := range branch {
			_, ok := refexpr.LookupIn(in.State, p)
			all = all && ok && len(p) > 0
		}
		if all {
			return true
		}
	}
	return false
}

func ofPlan(e turn.PlanEntry) string {
	if e.PlanName == "" {
		return ""
	}
	return fmt.Sprintf(" of Plan %q", e.PlanName)
}
