package workflows_test

import (
	"strings"
	"testing"
)

const adaptedIdea = `{"schema": {"tools": {
	"shout": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false, "_approval": true}}},
	"context": [{"type": "state", "user": {"userName": "Anna"}}]}`

const shoutUser = `{"solution": {"calls": [{"_tool": "shout", "text": "†state.user", "_outputPath": "loud"}]}}`

func TestAStepThatGivesAnotherFormThanTheNextOneWantsGoesThrough(t *testing.T) {
	s := newScenario(t, adaptedIdea, shoutUser,
		`{"solution": {"calls": [{"_call": "1.1", "_params": {"text": "Anna"}}]}}`,
		`{"solution": {"calls": []}}`)
	run := s.start()
	pending := s.waitsFor(1)[0]
	if got := asJSON(pending.Adapted); pending.Params["text"] != "Anna" || !strings.Contains(got, `"from":{"text":{"userName":"Anna"}},"to":{"text":"Anna"}`) {
		t.Errorf("the approver sees %s, adapted %s", asJSON(pending.Params), got)
	}
	s.decide("approve", "1.1", "")
	r := s.end(run)
	if got := asJSON(r.Instances[""].State); got != `{"loud":"ANNA","user":{"userName":"Anna"}}` || r.Requests != 3 || r.Ideas != 2 {
		t.Errorf("%s after %d Requests and %d Ideas", got, r.Requests, r.Ideas)
	}
	if seen := s.prompt(2); !strings.Contains(seen, `1.1 shout {"text":{"userName":"Anna"}} does not fit: `) {
		t.Error(seen)
	}
}

func TestWhereAdaptingIsSwitchedOffTheNextRequestIsToldOfTheMisfit(t *testing.T) {
	s := newScenario(t, strings.Replace(adaptedIdea, `{"schema"`, `{"config": {"adapt": false}, "schema"`, 1), shoutUser, `{"solution": {"calls": []}}`)
	if r := s.finish(); r.Requests != 2 || r.Calls.Failed != 1 || !strings.Contains(s.prompt(2), "bad_parameters") {
		t.Errorf("%s", s.story())
	}
}
