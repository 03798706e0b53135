package model

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

// carriedRun is a Run after it has travelled to another run of its workflow, as JSON.
func carriedRun(t failer, r *Run) *Run {
	var c CarriedRun
	throughJSON(t, r.Carry(), &c)
	palette, context, token := r.Origin()
	return ResumeRun(palette, context, token, c)
}

func throughJSON(t failer, from, to any) {
	data, err := json.Marshal(from)
	if err != nil {
		t.Fatalf("%s", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		t.Fatalf("%s", err)
	}
}

// carriedMind is a Mind after it has travelled to another run of its workflow, as JSON. One that cannot travel now stays.
func carriedMind(t failer, began *Idea, bindings map[string]Binding, m *Mind) *Mind {
	if !m.MayCarry() {
		return m
	}
	var c CarriedMind
	throughJSON(t, m.Carry(), &c)
	return ResumeMind(began, m.Process(), bindings, c)
}

// A field that somebody adds must be carried, or follow from what is.
func TestEveryFieldOfWhatIsCarriedIsKnown(t *testing.T) {
	for _, c := range []struct {
		of              any
		carried, follow []string
	}{
		{Run{}, []string{"context", "state", "records", "open", "closed", "fresh", "now", "overdue", "corrections", "begun"},
			[]string{"token", "palette", "given", "view", "schema", "writers"}},
		{Record{}, []string{"Call", "Status", "Fault", "By", "Result", "Asking", "Adapted", "Handed", "Arrived", "Value", "Doubt", "Untaken", "Taken", "Cause", "Pending", "Decisions", "Written",
			"ready", "cleared", "asked", "author"}, []string{"reads", "scoped", "hands"}},
		{Mind{}, []string{"idea", "members", "started", "before", "requests", "turns", "badReplies", "badOutputs", "lost", "usage", "unnamed", "wiring",
			"readySince", "plan", "troubles", "notes", "log", "output", "hasOutput", "paused", "limits", "planOutput", "outputFault"},
			[]string{"given", "first", "process", "bindings", "byToken", "wake", "asked", "ended", "taken"}}, // nothing is asked, who has ended was told, and Calls were handed out
		{Member{}, []string{"Token", "Status", "Fault", "Missing", "Pending", "state", "calls", "covered", "planned", "closed", "quiet", "told", "untold",
			"lacks", "corrected", "taken", "back", "revised", "asking", "direct", "handed", "barred", "unmet", "report"}, nil},
	} {
		typ := reflect.TypeOf(c.of)
		for i := range typ.NumField() {
			if name := typ.Field(i).Name; !slices.Contains(c.carried, name) && !slices.Contains(c.follow, name) {
				t.Errorf("%s.%s: is it carried? See carry_run.go and carry_mind.go", typ.Name(), name)
			}
		}
	}
}

func TestACarriedMindIsTheSameToWhoeverLooks(t *testing.T) {
	s := onStage(t, "", twoInstances)
	s.says(`{"calls": [{"_tool": "work", "_instance": "*", "x": 1, "_outputPath": "x"}, {"_tool": "log", "_instance": "①"}], "output": null}`)
	s.add(`[{"type": "state", "_instance": "③", "state": {"a": 3}}]`)
	s.revise(`{"context": [{"type": "input", "rule": "be kind"}], "by": "ann", "limits": {"requests": 7}}`)
	m := carriedMind(t, s.idea, s.bindings, s.mind)
	for what, look := range map[string]func(*Mind) any{
		"the Idea":   func(m *Mind) any { return m.Idea().Source },
		"the result": func(m *Mind) any { return Normal(m.Result(StatusRunning, true)) },
		"the brief":  func(m *Mind) any { return Normal(m.Final()) },
		"the log":    func(m *Mind) any { return LogValue(m.TakeLog()) },
		"the limits": func(m *Mind) any { return Normal(m.Carry().Limits) },
		"who is new": func(m *Mind) any { return Normal(m.Tokens()) },
	} {
		before, after := look(s.mind), look(m)
		if !Equal(before, after) || Equal(before, Normal(nil)) {
			t.Errorf("%s was\n%s\nand is\n%s", what, Encode(before), Encode(after))
		}
	}
}
