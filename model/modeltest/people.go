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
const peopleTools = ScenarioTools + `, "slow": {"type": "object", "properties": {"x": {}}},
	"pay": {"type": "object", "properties": {"n": {"type": "integer"}, "x": {}}, "_approval": true},
	"huge": {"type": "object", "properties": {"n": {"type": "integer"}}, "_approval": {"when": {"properties": {"n": {"minimum": 100}}}}},
	"due": {"type": "object", "properties": {}, "_approval": {"timeout": "1h", "onTimeout": "pause"}}`

const ThreeInstances = `"context": [{"type": "state", "_instance": "①", "state": {}}, {"type": "state", "_instance": "②", "state": {}},
	{"type": "state", "_instance": "③", "state": {}}]`

func NewScenarioWithPeople(t rapid.TB, output string, rest ...string) *Scenario {
	return NewScenarioWithTools(t, peopleTools, output, rest...)
}

// goesOn lets an instance do what it can, and report it.
func (s *Scenario) Advance(token string) {
	instance := s.Instances[token]
	closed := instance.Carry().ClosedThrough
	s.RunToIdle(token, closed)
	s.DeliverReport(s.Report(token, closed))
}

// decide takes a person's decision, with the rest of the signal where there is one.
func (s *Scenario) Decide(kind, id string, more ...string) {
	s.T.Helper()
	m := map[string]any{"call": id, "by": "ann"}
	for _, text := range more {
		m = jsonval.Merge(m, DecodeJSON(s.T, text)).(map[string]any)
	}
	instance := s.Instances[ideafile.TokenOfCallID(id)]
	instance.SetTime(s.Now)
	d, err := turn.ReadDecision(kind, m)
	if err == nil {
		err = instance.Decide(d)
	}
	if err != nil {
		s.T.Fatalf("%s %s: %s", kind, id, err)
	}
	s.Advance(ideafile.TokenOfCallID(id))
}

// done ends a slow Call.
func (s *Scenario) CompleteSlow(id string) {
	s.Instances[ideafile.TokenOfCallID(id)].Succeed(id, "done at last")
	s.Advance(ideafile.TokenOfCallID(id))
}

// fails ends a slow Call the other way.
func (s *Scenario) FailSlow(id string) {
	s.Instances[ideafile.TokenOfCallID(id)].Fail(id, diag.Faultf(ideafile.CodeToolFailed, "no luck"))
	s.Advance(ideafile.TokenOfCallID(id))
}

func (s *Scenario) AdvanceClock(d time.Duration) { s.Now = s.Now.Add(d) }

// waitsFor checks that nothing is to be done until some time has passed; 0: until something happens.
func (s *Scenario) ExpectWait(d time.Duration) {
	s.T.Helper()
	s.ExpectStep(loop.StepWait)
	switch wake := s.Loop.WakeTime(); {
	case d == 0 && !wake.IsZero():
		s.T.Errorf("it wakes in %s by itself", wake.Sub(s.Now))
	case d > 0 && wake.Sub(s.Now) != d:
		s.T.Errorf("it wakes at %s, in %s, not in %s", wake, wake.Sub(s.Now), d)
	}
}

// asksAbout checks that a Request is made now, and about whom.
func (s *Scenario) ExpectRequestFor(tokens string) *turn.RequestInput {
	s.T.Helper()
	in := s.ExpectRequest()
	s.WantEqual("the Request is about", strings.Join(in.Tokens(), " "), tokens)
	return in
}

// standings tells what people are told of every instance.
func (s *Scenario) Standings() string {
	var parts []string
	for _, m := range s.Loop.Instances() {
		parts = append(parts, strings.TrimSpace(m.Token+" "+string(m.DisplayStatus())))
	}
	return strings.Join(parts, ", ")
}

// add takes in more instances, as the person wrote them.
func (s *Scenario) AddInstances(context string) {
	s.T.Helper()
	tokens, err := s.Loop.AddInstances(loop.Steering{Context: DecodeJSON(s.T, context).([]any)})
	if err != nil {
		s.T.Fatal(err)
	}
	s.StartInstances(tokens)
}

// facts tells what a Request is told that people decided, a line for each Call and instance.
func DescribeDecisions(in *turn.RequestInput) string {
	var lines []string
	for _, e := range in.Plan {
		for _, d := range e.Decisions {
			lines = append(lines, strings.TrimSpace(e.ID+" "+d.Token)+" "+d.Decision.Describe())
		}
	}
	return strings.Join(lines, "\n")
}

// revise sends a correction to the process, and gives the instances that must be told.
func (s *Scenario) Revise(payload string) []*loop.InstanceProgress {
	s.T.Helper()
	r, err := loop.ReadSteering(loop.SteerRevise, DecodeJSON(s.T, payload).(map[string]any))
	if err != nil {
		s.T.Fatal(err)
	}
	touched, err := s.Loop.Revise(r)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, p := range touched {
		s.Corrections[p.Token] = append(s.Corrections[p.Token], r)
	}
	return touched
}

// takesIn lets an instance hear of all corrections that it was sent and that concern it.
func (s *Scenario) ApplyCorrections(token, by string) {
	for _, r := range s.Corrections[token] {
		messages, err := ideafile.ReadMessages(r.Context)
		if err != nil {
			s.T.Fatal(err)
		}
		s.Instances[token].Revise(slices.DeleteFunc(messages, func(m ideafile.Message) bool {
			return m.Kind == "" || m.Instance != "" && m.Instance != token
		}), by, "")
		s.CorrectionsAcked[token]++
	}
	s.Corrections[token] = nil
	s.Advance(token)
}
