package model

import (
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// This file lets people take part in a process on stage, and time pass there.

// peopleTools is the palette with people: pay asks somebody, huge only over a bound, due once a time has passed, and slow
// runs until the test ends it.
const peopleTools = stagedTools + `, "slow": {"type": "object", "properties": {"x": {}}},
	"pay": {"type": "object", "properties": {"n": {"type": "integer"}, "x": {}}, "_approval": true},
	"huge": {"type": "object", "properties": {"n": {"type": "integer"}}, "_approval": {"when": {"properties": {"n": {"minimum": 100}}}}},
	"due": {"type": "object", "properties": {}, "_approval": {"timeout": "1h", "onTimeout": "pause"}}`

const threeInstances = `"context": [{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}},
	{"type": "state", "_instance": "③", "state": {}}]`

func withPeople(t rapid.TB, output string, rest ...string) *stage {
	return onStageWith(t, peopleTools, output, rest...)
}

// goesOn lets an instance do what it can, and report it.
func (s *stage) goesOn(token string) {
	run := s.runs[token]
	closed := run.Carry().Closed
	s.settleRun(token, closed)
	s.heard(s.report(token, closed))
}

// decide takes a person's decision, with the rest of the signal where there is one.
func (s *stage) decide(kind, id string, more ...string) {
	s.t.Helper()
	m := map[string]any{"call": id, "by": "ann"}
	for _, text := range more {
		m = Merge(m, value(s.t, text)).(map[string]any)
	}
	run := s.runs[TokenOf(id)]
	run.At(s.now)
	d, err := ReadDecision(kind, m)
	if err == nil {
		err = run.Decide(d)
	}
	if err != nil {
		s.t.Fatalf("%s %s: %s", kind, id, err)
	}
	s.goesOn(TokenOf(id))
}

// done ends a slow Call.
func (s *stage) done(id string) {
	s.runs[TokenOf(id)].Succeed(id, "done at last")
	s.goesOn(TokenOf(id))
}

// fails ends a slow Call the other way.
func (s *stage) fails(id string) {
	s.runs[TokenOf(id)].Fail(id, fault(CodeToolFailed, "no luck"))
	s.goesOn(TokenOf(id))
}

func (s *stage) later(d time.Duration) { s.now = s.now.Add(d) }

// waitsFor checks that nothing is to be done until some time has passed; 0: until something happens.
func (s *stage) waitsFor(d time.Duration) {
	s.t.Helper()
	s.expect(StepWait)
	switch wake := s.mind.Wake(); {
	case d == 0 && !wake.IsZero():
		s.t.Errorf("it wakes in %s by itself", wake.Sub(s.now))
	case d > 0 && wake.Sub(s.now) != d:
		s.t.Errorf("it wakes at %s, in %s, not in %s", wake, wake.Sub(s.now), d)
	}
}

// asksAbout checks that a Request is made now, and about whom.
func (s *stage) asksAbout(tokens string) *Brief {
	s.t.Helper()
	b := s.asks()
	s.want("the Request is about", strings.Join(b.Tokens(), " "), tokens)
	return b
}

// standings tells what people are told of every instance.
func (s *stage) standings() string {
	var parts []string
	for _, m := range s.mind.Members() {
		parts = append(parts, strings.TrimSpace(m.Token+" "+string(m.Standing())))
	}
	return strings.Join(parts, ", ")
}

// add takes in more instances, as the person wrote them.
func (s *stage) add(context string) {
	s.t.Helper()
	tokens, err := s.mind.Add(Steering{Context: value(s.t, context).([]any)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.join(tokens)
}

// facts tells what a Request is told that people decided, a line for each Call and instance.
func facts(b *Brief) string {
	var lines []string
	for _, e := range b.Plan {
		for _, d := range e.Decided {
			lines = append(lines, strings.TrimSpace(e.ID+" "+d.Token)+" "+d.Decision.Fact())
		}
	}
	return strings.Join(lines, "\n")
}

// revise sends a correction to the process, and gives the instances that must be told.
func (s *stage) revise(payload string) []*Member {
	s.t.Helper()
	r, err := ReadSteering(SteerRevise, value(s.t, payload).(map[string]any))
	if err != nil {
		s.t.Fatal(err)
	}
	touched, err := s.mind.Revise(r)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, mem := range touched {
		s.revisions[mem.Token] = append(s.revisions[mem.Token], r)
	}
	return touched
}

// takesIn lets an instance hear of all corrections that it was sent and that concern it.
func (s *stage) takesIn(token, by string) {
	for _, r := range s.revisions[token] {
		messages, err := readAll(r.Context)
		if err != nil {
			s.t.Fatal(err)
		}
		s.runs[token].Revise(slices.DeleteFunc(messages, func(m Message) bool {
			return m.Kind == "" || m.Instance != "" && m.Instance != token
		}), by, "")
		s.corrected[token]++
	}
	s.revisions[token] = nil
	s.goesOn(token)
}
