package model

import (
	"fmt"
	"testing"
)

// allOf tells all that a Mind knows, to see that nothing has changed.
func allOf(m *Mind) string {
	return fmt.Sprintf("%s %v %d %s %s", Encode(m.Idea().Source), m.Corrected(), len(m.Idea().Context), Encode(Normal(m.Carry())), Encode(Normal(m.Final())))
}

const typed = `"context": [{"type": "input", "lang": "en"}, {"type": "state", "schema": {"properties": {"n": {"type": "integer"}, "deep": {"type": "object",
	"additionalProperties": false}}}, "state": {}}, {"type": "state", "_instance": "①", "state": {"text": "plain"}}, {"type": "state", "_instance": "②", "state": {}},
	{"type": "state", "_instance": "③", "state": {}}]`

func TestARefusedCorrectionChangesNothingAtAll(t *testing.T) {
	s := withPeople(t, "", typed)
	s.says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
	const good = `{"type":"input","lang":"de"},{"type":"state","_instance":"①","n":5},`
	for message, why := range map[string]string{
		`{"type":"state","_instance":"④","n":1}`:              `$.context[2]: there is no instance ④; add makes new ones`,
		`{"type":"state","_instance":"③","n":1}`:              `$.context[2]: instance ③ has settled`,
		`{"type":"state","n":"many"}`:                         `$.context[2]: †state.n does not fit the State schema: expected integer, but got string`,
		`{"type":"state","_instance":"②","n":"many"}`:         `$.context[2]: †state.n does not fit the State schema: expected integer, but got string`,
		`{"type":"state","_instance":"①","text":{"below":1}}`: `$.context[2]: †state.text.below: something other than an object stands above it`,
		`{"type":"state","state":5}`:                          `$.context[2].state: State is an object, not number`,
		`{"type":"memo"}`:                                     `$.context[2].type: unknown type "memo"; there are text, input, state, data, plan, instruction and error`,
		`"text"`:                                              `$.context[2]: a message is an object, not string`,
		`{"type":"state","schema":{"type":"no"}}`:             ``,
	} {
		before := allOf(s.mind)
		r := Steering{Limits: Limits{Requests: 7}, Context: value(t, "["+good+message+"]").([]any)}
		_, err := s.mind.Revise(r)
		if got := errorText(err); err == nil || why != "" && got != why {
			t.Errorf("%s: got %q, want %q", message, got, why)
		}
		s.want("after "+message, allOf(s.mind), before)
	}
}

func TestACorrectionMayBringTheSchemaThatItFits(t *testing.T) {
	s := withPeople(t, "", typed)
	s.revise(`{"context":[{"type":"state","n":"many","schema":{"properties":{"n":{"type":"string"}}}}]}`)
}

func TestACorrectionIsForTheInstancesThatItNamesAndThatAreStillAtWork(t *testing.T) {
	for _, c := range []struct{ context, touched string }{
		{`{"type":"state","n":5}`, "① ②"},
		{`{"type":"input","lang":"de"}`, "① ②"},
		{`{"type":"data","kind":"rates","eur":1}`, "① ②"},
		{`{"type":"state","_instance":"②","n":5}`, "②"},
		{`{"type":"state","_instance":"②","n":5},{"type":"state","_instance":"①","n":5}`, "① ②"},
		{`{"type":"text","text":"be kind"}`, ""},
		{`{"type":"instruction","instruction":"be kind"}`, ""},
	} {
		s := withPeople(t, "", typed)
		s.says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
		touched := ""
		for _, mem := range s.revise(`{"context":[` + c.context + `]}`) {
			touched += " " + mem.Token
		}
		if touched != "" {
			touched = touched[1:]
		}
		s.want(c.context, touched, c.touched)
		if s.mind.Corrected() != (c.touched == "") {
			t.Errorf("%s: corrected is %v", c.context, s.mind.Corrected())
		}
	}
}

func TestACorrectionIsInTheIdeaAndInTheNextRequest(t *testing.T) {
	s := withPeople(t, "", `"context": [{"type": "state", "state": {"a": 1}}]`)
	s.revise(`{"context":[{"type":"text","text":"be kind"},{"type":"state","a":2}],"limits":{"requests":9}}`)
	s.want("the Idea", string(Encode(s.mind.Idea().Source["context"])),
		`[{"state":{"a":1},"type":"state"},{"text":"be kind","type":"text"},{"a":2,"type":"state"}]`)
	s.want("as it began", string(Encode(s.idea.Source["context"])), `[{"state":{"a":1},"type":"state"}]`)
	s.takesIn("", "ann")
	s.want("the State", string(Encode(s.asks().Covered[0].State)), `{"a":2}`)
}

func TestNobodyIsAskedAboutBeforeItHasTakenInWhatWasCorrected(t *testing.T) {
	s := withPeople(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.revise(`{"context":[{"type":"state","_instance":"①","a":5}]}`)
	s.revise(`{"context":[{"type":"state","_instance":"①","a":6}]}`)
	s.waitsFor(DefaultGather) // ② waits as for a running Call
	s.takesIn("①", "ann")
	s.want("the State", string(Encode(s.asksAbout("① ②").Covered[0].State)), `{"a":6,"b":"work done"}`)
	if !s.mind.Corrected() {
		t.Error("everybody has taken it in")
	}
}

func TestAnInstanceThatWasCorrectedDuringARequestDoesNotSettleByIt(t *testing.T) {
	for _, message := range []string{`{"type":"state","_instance":"①","a":5}`, `{"type":"text","_instance":"①","text":"look again"}`} {
		s := withPeople(t, aSummary, twoInstances)
		s.asks()
		s.revise(`{"context":[` + message + `]}`)
		if !s.mind.Corrected() {
			s.takesIn("①", "ann")
		}
		s.says(`{"calls":[],"output":{"summary":"too early"}}`)
		s.want(message, s.statuses(), "① working, ② settled")
		s.asksAbout("①")
		s.says(`{"calls":[],"output":{"summary":"of one"}}`)
		s.want("asked again", s.statuses(), "① settled, ② settled")
		s.want("the output", s.output(), "null")
		s.says(`{"calls":[],"output":{"summary":"of both"}}`)
		s.want("the output", s.output(), `{"summary":"of both"}`)
	}
}

func TestACorrectionThatArrivesAfterASettlingSolutionIsRefused(t *testing.T) {
	s := withPeople(t, "", twoInstances)
	s.says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	_, err := s.mind.Revise(Steering{Context: value(t, `[{"type":"state","_instance":"②","a":5}]`).([]any)})
	s.want("it", errorText(err), "$.context[0]: instance ② has settled")
}

func TestLimitsAloneAreACorrectionOfNobody(t *testing.T) {
	s := withPeople(t, "", `"config": {"limits": {"requests": 1}}`)
	s.says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.expect(StepPaused)
	if touched := s.revise(`{"limits":{"requests":2}}`); len(touched) > 0 || !s.mind.Corrected() {
		t.Errorf("it touches %v", touched)
	}
	s.mind.Resume(Limits{})
	s.asks()
}

func TestAddRefusesWhatIsNoNewInstance(t *testing.T) {
	s := withPeople(t, "", twoInstances)
	for message, why := range map[string]string{
		`{"type":"input","lang":"de"}`:            `$.context[1]: it names no new instance`,
		`{"type":"state","_instance":"②","a":1}`:  `$.context[1]: there is an instance ② already`,
		`{"type":"state","_instance":"*","a":1}`:  `$.context[1]._instance: "*" means every instance and cannot name one`,
		`{"type":"state","_instance":"~x","a":1}`: `$.context[1]._instance: an instance's token may not begin with ~`,
		`{"type":"state","_instance":5,"a":1}`:    `$.context[1]._instance: want a string, not number`,
	} {
		before := allOf(s.mind)
		_, err := s.mind.Add(Steering{Context: value(t, `[{"type":"state","_instance":"③","a":3},`+message+`]`).([]any)})
		s.want(message, errorText(err), why)
		s.want("after "+message, allOf(s.mind), before)
	}
	one := withPeople(t, "")
	_, err := one.mind.Add(Steering{Context: value(t, `[{"type":"state","_instance":"③","a":3}]`).([]any)})
	s.want("an anonymous process", errorText(err), "the process has one instance without a name, and takes no others")
}

func TestAddedInstancesSeeWhatAllSeeAndWantAnOutputAnew(t *testing.T) {
	s := withPeople(t, aSummary, typed)
	s.asks()
	s.revise(`{"context":[{"type":"state","n":7}]}`)
	s.add(`[{"type":"state","_instance":"⑤","state":{"a":5}},{"type":"input","_instance":"④","x":1},{"type":"text","_instance":"⑤","text":"t"}]`)
	s.want("they are", fmt.Sprint(s.mind.Tokens()), "[① ② ③ ⑤ ④]")
	s.want("the State", stateOf(s.mind, "⑤"), `{"a":5,"n":7}`)
}
