package workflows_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"processidea/internal/longrun"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
	"processidea/store/chain"
)

func TestAnOutputOfReferencesBesideCallsEndsTheProcessInOneRequest(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`},
		"output": {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}},
		"context": [{"type": "state", "text": "hi"}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "text": "†state.text", "_outputPath": "loud"}], "output": {"said": "†state.loud"}}}`)
	r := s.finish()
	if r.RequestCount != 1 || asJSON(r.Output) != `{"said":"HI"}` {
		t.Errorf("%+v", r)
	}
}

const (
	knownOutputForm  = `"output": {"type": "object", "properties": {"law": {"type": "string"}, "said": {}}, "required": ["law"]}`
	knownBesideCalls = `{"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "loud"}],
		"output": {"law": "Denmark", "said": "†state.loud"}, "finished": true}`
)

func TestAnOutputOfWhatIsKnownBesideCallsEndsTheProcessInOneRequest(t *testing.T) {
	t.Parallel()
	for name, c := range longrun.SampleRows(t, 2, map[string]struct {
		config    string
		instances int
		// Each of two parts makes its own Request, and one more is about the whole: it alone is left where the solution
		// is run again.
		requests, requestsAgain int
	}{
		"of a few": {`{}`, 3, 1, 0}, "in parts": {`{"batch": 2}`, 3, 3, 1},
		"of 101, in parts": {`{"batch": 60}`, 101, 3, 1},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.instances > 100 {
				longrun.SkipUnlessEnabled(t)
			}
			s := newScenario(t, `{"config": `+c.config+`, "schema": {"tools": {"shout": `+textTool+`}, `+
				knownOutputForm+`}, "context": [`+rows(1, c.instances)+`]}`,
				`{"when": "Everything is done", "solution": {"calls": [], "output": {"law": "Denmark"}}}`,
				`{"solution": `+knownBesideCalls+`}`, `{"solution": `+knownBesideCalls+`}`)
			comesToIt := func(requests int) {
				t.Helper()
				r := s.finish()
				if r.Status != loop.StatusCompleted || r.Calls.Done != c.instances || r.RequestCount > requests ||
					!strings.Contains(asJSON(r.Output), `"law":"Denmark"`) {
					t.Errorf("%s, %d Requests, %+v, %.200s\n%s", r.Status, r.RequestCount, r.Calls,
						asJSON(r.Output), s.story())
				}
			}
			comesToIt(c.requests)
			solution, err := jsonval.DecodeObject([]byte(knownBesideCalls))
			if err != nil {
				t.Fatal(err)
			}
			s.idea["solution"] = solution
			s.id, s.withCalls = s.id+"-again", true
			s.script(`{"solution": {"calls": [], "output": {"law": "Denmark"}}}`)
			comesToIt(c.requestsAgain)
		})
	}
}

const putRight = `{"loud":2,"soft":1}` // the output of softly

// softly is a process in which a person is asked about one of its instances, and whose LLM puts its output right where
// that is refused. more of its Tool says what runs it.
func softly(t *testing.T, more, config string, instances int) *scenario {
	return newScenario(t, `{"config": `+config+`, "schema": {"tools": {"shout": `+strings.TrimSuffix(textTool, "}")+more+`, "_approval": {"when": {"properties": {"text": {"const": "t2"}}}}}},
		"output": {"type": "object", "properties": {"loud": {"type": "integer"}, "soft": {"type": "integer"}}, "required": ["loud"]}},
		"context": [{"type": "state", "state": {}, "schema": {"type": "object", "properties": {"loud": {}}, "required": ["loud"]}}, `+rows(1, instances)+`]}`,
		`{"when": "Your output so far", "solution": {"calls": [{"_tool": "shout", "_instance": "2", "text": "softly", "_outputPath": "loud"}], "output": {"loud": 2, "soft": 1}, "finished": true}}`,
		`{"when": "Everything is done", "solution": {"calls": [], "output": {"loud": 2, "soft": 1}}}`,
		`{"when": "every Call that can be planned now for the", "solution": {"calls": [{"_tool": "shout", "_instance": "*", "text": "†state.text", "_outputPath": "loud"}], "output": {"loud": 3, "soft": 0}, "finished": true}}`)
}

func (s *scenario) refuseLoudness() {
	s.t.Helper()
	s.decide(policy.Reject, s.waitsFor(1)[0].CallID, `{"reason": "not so loud"}`)
}

// wantOutput wants a process that is completed with this output, after so many Requests at most.
func (s *scenario) wantOutput(r loop.ProcessResult, requests int, output string) {
	s.t.Helper()
	if r.Status != loop.StatusCompleted || r.RequestCount > requests || asJSON(r.Output) != output {
		s.t.Errorf("%s, %d Requests, %+v, %.200s\n%s", r.Status, r.RequestCount, r.Calls, asJSON(r.Output), s.story())
	}
}

// wholeReplyIsIn waits for the end of the Request in flight: a Call of it may wait for people long before.
func (s *scenario) wholeReplyIsIn() {
	s.t.Helper()
	eventually(s.t, "the reply has come whole", func() bool {
		return !slices.ContainsFunc(s.processStatus().WaitingFor, func(line string) bool {
			return strings.HasPrefix(line, protocol.WaitingForLLMPrefix)
		})
	})
}

// What a person refuses is planned otherwise, and the output that was given is put right in the same Request: nobody is
// asked for it at the end.
func TestAnOutputIsPutRightForWhoWasRefused(t *testing.T) {
	t.Parallel()
	for name, c := range longrun.SampleRows(t, 2, map[string]struct {
		config                             string
		instances, requests, requestsAgain int
	}{
		"of a few": {`{}`, 3, 2, 0}, "of 101, in parts": {`{"batch": 60}`, 101, 4, 1},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.instances > 100 {
				atLength(t)
			}
			s := softly(t, "", c.config, c.instances)
			run := s.start()
			s.refuseLoudness()
			s.wantOutput(s.end(run), c.requests, putRight)
			s.id, s.idea, s.withCalls = s.id+"-again", chain.ForkedIdea(s.sealedLast()), true
			s.script(`{"solution": {"calls": [], "output": {"loud": 2, "soft": 1}}}`)
			s.wantOutput(s.finish(), c.requestsAgain, putRight)
		})
	}
}

func TestAnOutputIsPutRightThoughTheWorkerIsKilledAndTheProcessContinuesAsNew(t *testing.T) {
	t.Parallel()
	cr := newCrash(t)
	kill := cr.work()
	s := softly(t, fmt.Sprintf(`, "_activity": {"http": {"url": %q}}`, cr.tool("loud", nil)), `{}`, 3)
	s.every = 1
	run := cr.start(s)
	s.waitsFor(1)
	s.wholeReplyIsIn()
	kill()
	cr.work()
	s.refuseLoudness()
	s.wantOutput(cr.finish(run), 2, putRight)
}

// noting is a process whose LLM finishes all instances but one, keeps notes of them, and gives the output when it plans
// for that one. A person is asked about it first. more of its Tool says what runs it.
func noting(t *testing.T, more string, batch, instances int) *scenario {
	var others []string
	for n := 1; n <= min(instances, batch); n++ {
		if n != 2 {
			others = append(others, fmt.Sprintf("%q", strconv.Itoa(n)))
		}
	}
	const loud = `{"_tool": "shout", "text": "†state.text", "_outputPath": "loud", "_instance": `
	return newScenario(t, fmt.Sprintf(`{"config": {"batch": %d}, "schema": {"tools": {"shout": `, batch)+strings.TrimSuffix(textTool, "}")+more+`, "_approval": {"when": {"properties": {"text": {"const": "t2"}}}}}},
		"output": {"type": "object", "properties": {"loud": {"type": "integer"}}, "required": ["loud"]}},
		"context": [{"type": "state", "state": {}, "schema": {"type": "object", "properties": {"loud": {}}, "required": ["loud"]}}, `+rows(1, instances)+`]}`,
		`{"when": "Everything is done", "solution": {"calls": [], "output": {"loud": 101}}}`,
		`{"when": "- Answer 1: \"2 is left, the others are loud\"", "solution": {"calls": [{"_tool": "shout", "_instance": "2", "text": "softly", "_outputPath": "loud"}], "finished": true, "output": {"loud": 3}, "notes": null}}`,
		fmt.Sprintf(`{"when": "\"text\":\"t%d\"", "solution": {"calls": [`, batch+1)+loud+
			`"*"}], "finished": true, "output": {"loud": 41}, "notes": null}}`,
		`{"when": "every Call that can be planned now for the", "solution": {"calls": [`+loud+`[`+strings.Join(others, ", ")+`]}, {"_tool": "shout", "_instance": "2", "text": "†state.text", "_outputPath": "look"}],
			"finished": false, "output": null, "notes": "2 is left, the others are loud"}}`)
}

// What the LLM has noted of finished instances lets it give the output with the last Calls. Of a whole in parts, each
// has its own notes; one more Request is about the whole.
func TestNotesOfFinishedInstancesSaveARequestForTheOutput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		batch, instances, requests int
		output                     string
	}{
		"of a few": {60, 3, 2, `{"loud":3}`}, "in parts": {2, 3, 4, `{"loud":101}`},
		"of 101, in parts": {60, 101, 4, `{"loud":101}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.instances > 100 {
				longrun.SkipUnlessEnabled(t)
			}
			s := noting(t, "", c.batch, c.instances)
			run := s.start()
			s.decide(policy.Approve, s.waitsFor(1)[0].CallID, `{}`)
			s.wantOutput(s.end(run), c.requests, c.output)
			if c.instances > c.batch {
				return
			}
			idea, err := chain.New(store).Load(t.Context(), s.id, 1)
			if err != nil {
				t.Fatal(err)
			}
			if solution, _ := idea["solution"].(map[string]any); solution["notes"] != "2 is left, the others are loud" {
				t.Errorf("the solution of its Idea is %s", asJSON(solution))
			}
		})
	}
}

func TestNotesAreKeptThoughTheWorkerIsKilledAndTheProcessContinuesAsNew(t *testing.T) {
	t.Parallel()
	cr := newCrash(t)
	kill := cr.work()
	s := noting(t, fmt.Sprintf(`, "_activity": {"http": {"url": %q}}`, cr.tool("loud", nil)), 60, 3)
	s.every = 1
	run := cr.start(s)
	s.waitsFor(1)
	s.wholeReplyIsIn()
	kill()
	cr.work()
	s.decide(policy.Approve, s.waitsFor(1)[0].CallID, `{}`)
	s.wantOutput(cr.finish(run), 2, `{"loud":3}`)
}

func TestAnOutputIsPutRightInADelegate(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"ask": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "_delegate": "asked.json",
		"_output": {"type": "object"}}}}, "context": [{"type": "state", "text": "hi"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "ask", "text": "†state.text", "_outputPath": "answer"}]}]}`,
		`{"solution": {"calls": [{"_tool": "refuse", "text": "†input.text", "_outputPath": "loud"}], "output": {"law": "Denmark"}, "finished": true}}`,
		`{"when": "Your output so far", "solution": {"calls": [{"_tool": "shout", "text": "†input.text", "_outputPath": "loud"}], "output": {"law": "Sweden"}, "finished": true}}`)
	s.file("asked.json", `{"schema": {"tools": {"refuse": `+textTool+`, "shout": `+textTool+`}, `+knownOutputForm+`}}`)
	r := s.finish()
	if got := asJSON(r.Instances[""].State); got != `{"answer":{"law":"Sweden"},"text":"hi"}` ||
		len(s.llm.Requests()) != 2 {
		t.Errorf("%s\n%s", got, s.story())
	}
}

func TestAnIdeaOfTheChainWithAnOutputOfWhatIsKnownIsRunAgainWithoutAnLLM(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"shout": `+textTool+`}, `+knownOutputForm+`}, "context": [`+rows(1, 3)+
		`]}`, `{"solution": `+knownBesideCalls+`}`)
	first := s.finish()
	idea, err := chain.New(store).Load(t.Context(), s.id, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.id, s.idea, s.withCalls = s.id+"-again", chain.ForkedIdea(idea), true
	if again := s.finish(); asJSON(again.Output) != asJSON(first.Output) || again.RequestCount != 0 ||
		again.Calls.Done != 3 {
		t.Errorf("%d Requests, %+v, %s", again.RequestCount, again.Calls, asJSON(again.Output))
	}
}

func TestAnOutputOfWhatIsKnownEndsADelegateInOneRequest(t *testing.T) {
	t.Parallel()
	s := newScenario(t, `{"schema": {"tools": {"ask": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "_delegate": "asked.json",
		"_output": {"type": "object"}}}}, "context": [{"type": "state", "text": "hi"}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "ask", "text": "†state.text", "_outputPath": "answer"}]}]}`,
		`{"solution": {"calls": [{"_tool": "shout", "text": "†input.text", "_outputPath": "loud"}], "output": {"law": "Denmark", "said": "†state.loud"}, "finished": true}}`)
	s.file("asked.json", `{"schema": {"tools": {"shout": `+textTool+`}, `+knownOutputForm+`}}`)
	r := s.finish()
	if got := asJSON(r.Instances[""].State); got != `{"answer":{"law":"Denmark","said":"HI"},"text":"hi"}` ||
		len(s.llm.Requests()) != 1 {
		t.Errorf("%s\n%s", got, s.story())
	}
}
