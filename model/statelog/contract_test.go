package statelog_test

import (
	"testing"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

func TestAResultSaysWhichBranchItTook(t *testing.T) {
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
		{`{"_outputPath": "†state.failed && †state.log", "_result": 7}`, 1, `7`, true}, {`{"_outputPath": "log", "_result": null}`, 1, `null`, true},
		{`{"_outputPath": "ok", "_result": {"x": 1}}`, 0, `{"x":1}`, true},
		{`{"_outputPath": "failed", "_result": 1, "more": 2}`, 0, `{"_outputPath":"failed","_result":1,"more":2}`, false},
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
	if _, _, _, err := l.SelectBranch(modeltest.MustDecodeJSON(`{"_outputPath": "ok && failed", "_result": 1}`)); err == nil {
		t.Error("a branch that there is not is taken")
	}
}
