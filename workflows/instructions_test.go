package workflows_test

import (
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
)

// shoutTwice requires that a text was shouted twice, of instances that have one.
const shoutTwice = `{"meta": {"version": "7"}, "instruction": {"text": "Shout.", "steps": [{"id": "twice", "text": "Shout twice.", "tools": ["shout"],
	"require": {"properties": {"calls": {"contains": {"properties": {"tool": {"const": "shout"}, "status": {"const": "done"},
		"output": {"pattern": "^T"}, "params": {"required": ["text"]}}}, "minContains": 2}}}}]}}`

// withPolicy gives the start the file of an instruction.
func (s *scenario) withPolicy(key string) {
	s.file(key, shoutTwice)
	delete(s.files[key].(map[string]any), "config")
}

const (
	shoutOnce  = `{"when": "Go.", "solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "loud"}]}}`
	shoutAgain = `{"when": "step twice is not fulfilled", "solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "louder"}]}}`
	afterOne   = `{"when": "\"loud\":", "solution": {"calls": []}}`
	afterTwo   = `{"when": "\"louder\":", "solution": {"calls": []}}`
)

func TestEveryPartHoldsItsInstancesToTheInstructionThatTheStartBrings(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"config": {"batch": 2, "gather": "5m"}, "schema": {"tools": {"shout": `+textTool+`}},
		"context": [{"type": "text", "text": "Go."}, {"type": "instruction", "file": "p.json"}, `+rows(1, 3)+`]}`,
		afterTwo, shoutAgain, afterOne, shoutOnce)
	s.withPolicy("p.json")
	s.every = 1
	r := s.finish()
	want := ideafile.StepCounts{{File: "p.json", Version: "7", StepID: "twice", Fulfilled: 3}}
	if r.Status != loop.StatusCompleted || asJSON(r.InstructionStepCounts) != asJSON(want) {
		t.Errorf("%s, %s\n%s", r.Status, asJSON(r.InstructionStepCounts), s.story())
	}
	last := s.sealedLast()
	if !strings.Contains(asJSON(last["context"]), `"outcome":"fulfilled"`) ||
		jsonval.AsObject(last["delegates"]) != nil || !strings.Contains(asJSON(last["context"]), `"version":"7"`) {
		t.Errorf("the last Idea is %s", asJSON(last))
	}
}

func TestAnInstanceThatNeverFulfilsAStepHasFailed(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}},
		"context": [{"type": "text", "text": "Go."}, {"type": "instruction", "file": "p.json"}, {"type": "state", "text": "t"}]}`,
		afterOne, shoutOnce)
	s.withPolicy("p.json")
	_ = s.start().Get(t.Context(), nil)
	r := s.processStatus()
	if r.Status != loop.StatusFailed || r.Error == nil || r.Error.Code != "instruction_unfulfilled" ||
		r.RequestCount != 5 {
		t.Errorf("%s %v after %d Requests\n%s", r.Status, r.Error, r.RequestCount, s.story())
	}
	if told := strings.Count(s.prompt(5)+s.prompt(4)+s.prompt(3)+s.prompt(2), "step twice is not fulfilled"); told != 3 {
		t.Errorf("it was told %d times", told)
	}
	if !strings.Contains(s.prompt(1), "> Shout.") || !strings.Contains(s.prompt(1), "> Step twice: Shout twice.") {
		t.Errorf("the LLM reads\n%s", s.prompt(1))
	}
}

func TestADelegateHasTheInstructionOfItsOwnFile(t *testing.T) {
	t.Parallel()
	s := reviewing(t, strings.Replace(reviewTool, `"review.json"`, `"sub/review.json"`, 1), reviewed,
		`{"when": "step twice is not fulfilled", "solution": {"calls": [{"_tool": "shout", "text": "t", "_outputPath": "a"}, {"_tool": "shout", "text": "t", "_outputPath": "b"}]}}`,
		`{"when": "You are a reviewer.", "solution": {"calls": [], "output": "fine"}}`, callReview)
	s.file("sub/review.json", `{"schema": {"tools": {"shout": `+textTool+`}, "output": {"type": "string"}},
		"context": [{"type": "text", "text": "You are a reviewer."}, {"type": "instruction", "file": "p.json"}]}`)
	s.withPolicy("sub/p.json")
	if got := asJSON(s.finish().Instances[""].State); !strings.Contains(got, `"verdict":"fine"`) {
		t.Errorf("%s\n%s", got, s.story())
	}
	if !strings.Contains(s.promptWith("You are a reviewer."), "Shout twice.") {
		t.Error("the delegate's LLM is not told the steps")
	}
}

func TestAStartThatBringsNoFileOfAnInstructionIsRefused(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"context": [{"type": "text", "text": "Go."}, {"type": "instruction", "file": "p.json"}]}`)
	err := s.start().Get(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "$.context[1].file: the process is started without the file p.json") {
		t.Error(err)
	}
}
