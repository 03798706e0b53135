package harden

import (
	"testing"

	"processidea/learn/past"
	"processidea/model/check"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// hardenedAgain runs a direct Plan in instances, and hardens that run.
func hardenedAgain(t *testing.T, plan string, cases ...map[string]any) *Result {
	t.Helper()
	first := &Result{
		Idea: map[string]any{
			"context": []any{modeltest.DecodeJSON(t, `{"type": "plan", "stage": "optimal", "plan": [`+plan+`]}`)}}}
	s, _, run := runHardened(t, first, cases)
	h, err := Harden([]past.RecordedProcess{run}, s.Bindings, false)
	if err != nil {
		t.Fatal(err)
	}
	idea, problems := ideafile.ReadIdea(h.Idea)
	if errs := append(problems.Errors(), check.Check(idea, s.Bindings).Errors()...); len(errs) > 0 ||
		len(h.Differences) > 0 {
		t.Fatalf("%s %s", errs, h.Differences)
	}
	return h
}

// What a Plan that ran directly says is what is meant: it comes out as it went in, whatever the instances that it ran
// in have in common.
func TestWhatADirectPlanSaysStaysWhereTheRunsSayNothingOfIt(t *testing.T) {
	t.Parallel()
	const vip,
		noVIP = `{"properties": {"state": {"properties": {"vip": {"enum": [true]}}, "required": ["vip"]}}, "required": ["state"]}`,
		`{"properties": {"state": {"properties": {"vip": {"enum": [false]}}, "required": ["vip"]}}, "required": ["state"]}`
	is := func(vip bool) map[string]any { return map[string]any{"id": "case-1", "vip": vip} }
	guarded := `{"_tool": "grant", "id": "†state.id", "_outputPath": "†state.verdict", "_when": ` + vip +
		`, "_unless": ` + noVIP + `}`
	other := `{"_tool": "deny", "id": "†state.id", "_outputPath": "†state.verdict"}`
	for name, row := range map[string]struct {
		plan  string
		cases []map[string]any
	}{
		"a literal that equals a value at the start": {
			`{"_tool": "file", "what": "case-1", "_outputPath": "†state.filed"}`,
			[]map[string]any{is(true), is(false)}},
		"a literal in a list that equals one at two places": {
			`{"_tool": "file", "what": ["case-1", "†state.vip"], "_outputPath": "†state.filed"}`,
			[]map[string]any{{"id": "case-1", "also": "case-1", "vip": true}}},
		"the condition of a Call that all had": {guarded + ", " + other,
			[]map[string]any{is(true), is(true)}},
		"the condition of a Call that none had": {guarded + ", " + other,
			[]map[string]any{is(false), is(false)}},
		"a Call that none had, before others": {guarded +
			`, {"_tool": "file", "what": "†state.id", "_outputPath": "†state.filed"}`, []map[string]any{is(false)}},
	} {
		t.Run(name, func(t *testing.T) {
			got := jsonval.AsObject(planMessage(hardenedAgain(t, row.plan, row.cases...)))["plan"]
			if want := modeltest.DecodeJSON(t, "["+row.plan+"]"); !jsonval.Equal(got, want) {
				t.Errorf("the Plan is %s\nwant %s", jsonval.Encode(got), jsonval.Encode(want))
			}
		})
	}
}
