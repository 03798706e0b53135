package modeltest

import (
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// This file lets people take part in a process on stage, and time pass there.

// peopleTools is the palette with people: pay asks somebody, huge only over a bound, due once a time has passed, and slow
// runs until the test ends it.
const peopleTools = StagedTools + `, "slow": {"type": "object", "properties": {"x": {}}},
	"pay": {"type": "object", "properties": {"n": {"type": "integer"}, "x": {}}, "_approval": true},
	"huge": {"type": "object", "properties": {"n": {"type": "integer"}}, "_approval": {"when": {"properties": {"n": {"minimum": 100}}}}},
	"due": {"type": "object", "properties": {}, "_approval": {"timeout": "1h", "onTimeout": "pause"}}`

const ThreeInstances = `"context": [{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}},
	{"type": "state", "_instance": "③", "state": {}}]`

func WithPeople(t rapid.TB, output string, rest ...string) *Stage {
	return OnStageWith(t, peopleTools, output, rest...)
}

// goesOn lets an instance do what it can, and report it.
func (s *Stage) GoesOn(token string) {
	run := s.Runs[token]
	closed := run.Carry().ClosedThrough
	s.SettleRun(token, closed)
	s.Heard(s.Report(token, closed))
}

// decide takes a person's decision, with the rest of the signal where there is one.
func (s *Stage) Decide(kind, id string, more ...string) {
	s.T.Helper()
	m := map[string]any{"call": id, "by": "ann"}
	for _, text := range more {
		m = jsonval.Merge(m, Value(s.T, text)).(map[string]any)
	}
	run := s.Runs[ideafile.TokenOf(id)]
	run.At(s.Now)
	d, err := turn.ReadDecision(kind, m)
	if err == nil {
		err = run.Decide(d)
	}
	if err != nil {
		s.T.Fatalf("%s %s: %s", kind, id, err)
	}
	s.GoesOn(ideafile.TokenOf(id))
}

// done ends a slow Call.
func (s *Stage) Done(id string) {
	s.Runs[ideafile.TokenOf(id)].Succeed(id, "done at last")
	s.GoesOn(ideafile.TokenOf(id))
}

// fails ends a slow Call the other way.
func (s *Stage) Fails(id string) {
	s.Runs[ideafile.TokenOf(id)].Fail(id, diag.Faultf(ideafile.CodeToolFailed, "no luck"))
	s.GoesOn(ideafile.TokenOf(id))
}

func (s *Stage) Later(d time.Duration) { s.Now = s.Now.Add(d) }

// waitsFor checks that nothing is to be done until some time has passed; 0: until something happens.
func (s *Stage) WaitsFor(d time.Duration) {
	s.T.Helper()
	s.Expect(loop.StepWait)
	switch wake := s.Mind.Wake(); {
	case d == 0 && !wake.IsZero():
		s.T.Errorf("it wakes in %s by itself", wake.Sub(s.Now))
	case d > 0 && wake.Sub(s.Now) != d:
		s.T.Errorf("it wakes at %s, in %s, not in %s", wake, wake.Sub(s.Now), d)
	}
}

// asksAbout checks that a Request is made now, and about whom.
func (s *Stage) AsksAbout(tokens string) *turn.RequestInput {
	s.T.Helper()
	b := s.Asks()
	s.Want("the Request is about", strings.Join(b.Tokens(), " "), tokens)
	return b
}

// standings tells what people are told of every instance.
func (s *Stage) Standings() string {
	var parts []string
	for _, m := range s.Mind.Members() {
		parts = append(parts, strings.TrimSpace(m.Token+" "+string(m.Standing())))
	}
	return strings.Join(parts, ", ")
}

// add takes in more instances, as the person wrote them.
func (s *Stage) Add(context string) {
	s.T.Helper()
	tokens, err := s.Mind.Add(loop.Steering{Context: Value(s.T, context).([]any)})
	if err != nil {
		s.T.Fatal(err)
	}
	s.Join(tokens)
}

// facts tells what a Request is told that people decided, a line for each Call and instance.
func Facts(b *turn.RequestInput) string {
	var lines []string
	for _, e := range b.Plan {
		for _, d := range e.Decided {
			lines = append(lines, strings.TrimSpace(e.ID+" "+d.Token)+" "+d.Decision.Fact())
		}
	}
	return strings.Join(lines, "\n")
}

// revise sends a correction to the process, and gives the instances that must be told.
func (s *Stage) Revise(payload string) []*loop.InstanceProgress {
	s.T.Helper()
	r, err := loop.ReadSteering(loop.SteerRevise, Value(s.T, payload).(map[string]any))
	if err != nil {
		s.T.Fatal(err)
	}
	touched, err := s.Mind.Revise(r)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, mem := range touched {
		s.Revisions[mem.Token] = append(s.Revisions[mem.Token], r)
	}
	return touched
}

// takesIn lets an instance hear of all corrections that it was sent and that concern it.
func (s *Stage) TakesIn(token, by string) {
	for _, r := range s.Revisions[token] {
		messages, err := ideafile.ReadAll(r.Context)
		if err != nil {
			s.T.Fatal(err)
		}
		s.Runs[token].Revise(slices.DeleteFunc(messages, func(m ideafile.Message) bool {
			return m.Kind == "" || m.Instance != "" && m.Instance != token
		}), by, "")
		s.Corrected[token]++
	}
	s.Revisions[token] = nil
	s.GoesOn(token)
}
