package statelog_test

import (
	"testing"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

func TestAResultSaysWhichBranchItTook(t *testing.T) {
	t.Parallel()
	o, err := refexpr.ParseOutputPath("ok || failed && log")
	if err != nil {
		t.Fatal(err)
	}
	l := &statelog.ResultContract{OutputPath: o}
	for _, c := range []struct {
		value  string
		branch int
		result string
		said   bool
	}{
		{`{"x": 1}`, 0, `{"x":1}`, false}, {`7`, 0, `7`, false},
		{`{"_outputPath": "†state.failed && †state.log", "_result": 7}`, 1, `7`, true},
		{`{"_outputPath": "log", "_result": null}`, 1, `null`, true},
		{`{"_outputPath": "ok", "_result": {"x": 1}}`, 0, `{"x":1}`, true},
		{`{"_outputPath": "failed", "_result": 1, "more": 2}`, 0, `{"_outputPath":"failed","_result":1,"more":2}`,
			false},
		{`{"_outputPath": "failed"}`, 0, `{"_outputPath":"failed"}`, false},
	} {
		branch, result, said, err := l.SelectBranch(modeltest.MustDecodeJSON(c.value))
		if err != nil || branch != c.branch || said != c.said || string(jsonval.Encode(result)) != c.result {
			t.Errorf("%s takes branch %d with %s, said %v, %v", c.value, branch, jsonval.Encode(result), said, err)
		}
		if again, _, _, err := l.SelectBranch(l.WrapResultWithBranch(branch, result)); err != nil || again != branch {
			t.Errorf("what is said of branch %d is taken for %d, %v", branch, again, err)
		}
	}
	if _, _, _,
		err := l.SelectBranch(modeltest.MustDecodeJSON(`{"_outputPath": "ok && failed", "_result": 1}`)); err == nil {
		t.Error("a branch that there is not is taken")
	}
}

func TestAnUpdateThatNeedsAStoredValueIsKnown(t *testing.T) {
	t.Parallel()
	big := `{"†blob": {"digest": "d", "size": 70000, "type": "array"}}`
	for _, c := range []struct {
		method, old, value string
		want               bool
	}{
		{"push", big, `1`, true}, {"push", `[]`, big, false}, {"concat", `[]`, big, true},
		{"merge", `null`, big, false}, {"", big, `1`, false},
		{"assign", `{"a": ` + big + `}`, `{"a": {}}`, false}, {"merge", `{"a": ` + big + `}`, `{"a": {}}`, true},
		{"merge", `{"a": {"b": ` + big + `}}`, `{"a": {"c": 1}}`, false},
		{"merge", `{"a": {"b": {}}}`, `{"a": {"b": ` + big + `}}`, true},
	} {
		if got := statelog.NeedsBlobContent(c.method, modeltest.MustDecodeJSON(c.old),
			modeltest.MustDecodeJSON(c.value)); got != c.want {
			t.Errorf("%s of %s to %s: %v", c.method, c.value, c.old, got)
		}
	}
}

func TestAStateIsTheSameWhereAnUpdateWasPutTogetherElsewhere(t *testing.T) {
	t.Parallel()
	initial := modeltest.MustDecodeJSON(`{"list": ["†"], "o": {"a": 1}, "k": 0}`)
	for _, c := range []struct{ path, method, value, combined string }{
		{"list", "push", `1`, `["†", 1]`}, {"o", "merge", `{"b": 2}`, `{"a": 1, "b": 2}`},
		{"", "merge", `{"o": {"b": 2}}`, `{"o": {"a": 1, "b": 2}}`},
	} {
		path, err := jsonval.ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		w := statelog.Write{Path: path, OutputMethod: c.method, Value: modeltest.MustDecodeJSON(c.value), Author: "1.2",
			Request: 1, Index: 2}
		here, elsewhere := statelog.NewState(initial), statelog.NewState(initial)
		here.Apply(w)
		w.CombinedValue = modeltest.MustDecodeJSON(c.combined)
		elsewhere.Apply(w)
		if !jsonval.Equal(here.Snapshot(), elsewhere.Snapshot()) ||
			!jsonval.Equal(initial, elsewhere.StateBeforeCall(1, 2, nil).Snapshot()) {
			t.Errorf("%s %s: %s and %s", c.method, c.path, jsonval.Encode(here.Snapshot()),
				jsonval.Encode(elsewhere.Snapshot()))
		}
		if before := (statelog.Write{Path: path, Request: 1, Index: 1}); !elsewhere.HasCombinedLaterWrite(before) ||
			elsewhere.HasCombinedLaterWrite(w) || here.HasCombinedLaterWrite(before) {
			t.Errorf("%s %s: it is not known that a write before it comes too late", c.method, c.path)
		}
	}
}
