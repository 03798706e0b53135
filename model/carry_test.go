package model

import (
	"bytes"
	"encoding/json"
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
