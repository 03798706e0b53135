package loop_test

import (
	"fmt"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

// allOf tells all that a Mind knows, to see that nothing has changed.
func allOf(m *loop.Loop) string {
	return fmt.Sprintf("%s %v %d %s %s", jsonval.Encode(m.Idea().Source), m.Corrected(), len(m.Idea().Context), jsonval.Encode(jsonval.Normal(m.Carry())), jsonval.Encode(jsonval.Normal(m.Final())))
}

const typed = `"context": [{"type": "input", "lang": "en"}, {"type": "state", "schema": {"properties": {"n": {"type": "integer"}, "deep": {"type": "object",
	"additionalProperties": false}}}, "state": {}}, {"type": "state", "_instance": "①", "state": {"text": "plain"}}, {"type": "state", "_instance": "②", "state": {}},
	{"type": "state", "_instance": "③", "state": {}}]`

func TestARefusedCorrectionChangesNothingAtAll(t *testing.T) {
	s := modeltest.WithPeople(t, "", typed)
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
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
		before := allOf(s.Mind)
		r := loop.Steering{Limits: ideafile.Limits{Requests: 7}, Context: modeltest.Value(t, "["+good+message+"]").([]any)}
		_, err := s.Mind.Revise(r)
		if got := modeltest.ErrorText(err); err == nil || why != "" && got != why {
			t.Errorf("%s: got %q, want %q", message, got, why)
		}
		s.Want("after "+message, allOf(s.Mind), before)
	}
}

func TestACorrectionMayBringTheSchemaThatItFits(t *testing.T) {
	s := modeltest.WithPeople(t, "", typed)
	s.Revise(`{"context":[{"type":"state","n":"many","schema":{"properties":{"n":{"type":"string"}}}}]}`)
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
		s := modeltest.WithPeople(t, "", typed)
		s.Says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"},{"_tool":"work","_instance":"②","_outputPath":"b"}],"output":null}`)
		touched := ""
		for _, mem := range s.Revise(`{"context":[` + c.context + `]}`) {
			touched += " " + mem.Token
		}
		if touched != "" {
			touched = touched[1:]
		}
		s.Want(c.context, touched, c.touched)
		if s.Mind.Corrected() != (c.touched == "") {
			t.Errorf("%s: corrected is %v", c.context, s.Mind.Corrected())
		}
	}
}

func TestACorrectionIsInTheIdeaAndInTheNextRequest(t *testing.T) {
	s := modeltest.WithPeople(t, "", `"context": [{"type": "state", "state": {"a": 1}}]`)
	s.Revise(`{"context":[{"type":"text","text":"be kind"},{"type":"state","a":2}],"limits":{"requests":9}}`)
	s.Want("the Idea", string(jsonval.Encode(s.Mind.Idea().Source["context"])),
		`[{"state":{"a":1},"type":"state"},{"text":"be kind","type":"text"},{"a":2,"type":"state"}]`)
	s.Want("as it began", string(jsonval.Encode(s.Idea.Source["context"])), `[{"state":{"a":1},"type":"state"}]`)
	s.TakesIn("", "ann")
	s.Want("the State", string(jsonval.Encode(s.Asks().Covered[0].State)), `{"a":2}`)
}

func TestNobodyIsAskedAboutBeforeItHasTakenInWhatWasCorrected(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"*","_outputPath":"b"}],"output":null}`)
	s.Revise(`{"context":[{"type":"state","_instance":"①","a":5}]}`)
	s.Revise(`{"context":[{"type":"state","_instance":"①","a":6}]}`)
	s.WaitsFor(ideafile.DefaultGather) // ② waits as for a running Call
	s.TakesIn("①", "ann")
	s.Want("the State", string(jsonval.Encode(s.AsksAbout("① ②").Covered[0].State)), `{"a":6,"b":"work done"}`)
	if !s.Mind.Corrected() {
		t.Error("everybody has taken it in")
	}
}

func TestAnInstanceThatWasCorrectedDuringARequestDoesNotSettleByIt(t *testing.T) {
	for _, message := range []string{`{"type":"state","_instance":"①","a":5}`, `{"type":"text","_instance":"①","text":"look again"}`} {
		s := modeltest.WithPeople(t, modeltest.ASummary, modeltest.TwoInstances)
		s.Asks()
		s.Revise(`{"context":[` + message + `]}`)
		if !s.Mind.Corrected() {
			s.TakesIn("①", "ann")
		}
		s.Says(`{"calls":[],"output":{"summary":"too early"}}`)
		s.Want(message, s.Statuses(), "① working, ② settled")
		s.AsksAbout("①")
		s.Says(`{"calls":[],"output":{"summary":"of one"}}`)
		s.Want("asked again", s.Statuses(), "① settled, ② settled")
		s.Want("the output", s.Output(), "null")
		s.Says(`{"calls":[],"output":{"summary":"of both"}}`)
		s.Want("the output", s.Output(), `{"summary":"of both"}`)
	}
}

func TestACorrectionThatArrivesAfterASettlingSolutionIsRefused(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.TwoInstances)
	s.Says(`{"calls":[{"_tool":"work","_instance":"①","_outputPath":"b"}],"output":null}`)
	_, err := s.Mind.Revise(loop.Steering{Context: modeltest.Value(t, `[{"type":"state","_instance":"②","a":5}]`).([]any)})
	s.Want("it", modeltest.ErrorText(err), "$.context[0]: instance ② has settled")
}

func TestLimitsAloneAreACorrectionOfNobody(t *testing.T) {
	s := modeltest.WithPeople(t, "", `"config": {"limits": {"requests": 1}}`)
	s.Says(`{"calls":[{"_tool":"work","_outputPath":"b"}],"output":null}`)
	s.Expect(loop.StepPaused)
	if touched := s.Revise(`{"limits":{"requests":2}}`); len(touched) > 0 || !s.Mind.Corrected() {
		t.Errorf("it touches %v", touched)
	}
	s.Mind.Resume(ideafile.Limits{})
	s.Asks()
}

func TestAddRefusesWhatIsNoNewInstance(t *testing.T) {
	s := modeltest.WithPeople(t, "", modeltest.TwoInstances)
	for message, why := range map[string]string{
		`{"type":"input","lang":"de"}`:            `$.context[1]: it names no new instance`,
		`{"type":"state","_instance":"②","a":1}`:  `$.context[1]: there is an instance ② already`,
		`{"type":"state","_instance":"*","a":1}`:  `$.context[1]._instance: "*" means every instance and cannot name one`,
		`{"type":"state","_instance":"~x","a":1}`: `$.context[1]._instance: an instance's token may not begin with ~`,
		`{"type":"state","_instance":5,"a":1}`:    `$.context[1]._instance: want a string, not number`,
	} {
		before := allOf(s.Mind)
		_, err := s.Mind.Add(loop.Steering{Context: modeltest.Value(t, `[{"type":"state","_instance":"③","a":3},`+message+`]`).([]any)})
		s.Want(message, modeltest.ErrorText(err), why)
		s.Want("after "+message, allOf(s.Mind), before)
	}
	one := modeltest.WithPeople(t, "")
	_, err := one.Mind.Add(loop.Steering{Context: modeltest.Value(t, `[{"type":"state","_instance":"③","a":3}]`).([]any)})
	s.Want("an anonymous process", modeltest.ErrorText(err), "the process has one instance without a name, and takes no others")
}

func TestAddedInstancesSeeWhatAllSeeAndWantAnOutputAnew(t *testing.T) {
	s := modeltest.WithPeople(t, modeltest.ASummary, typed)
	s.Asks()
	s.Revise(`{"context":[{"type":"state","n":7}]}`)
	s.Add(`[{"type":"state","_instance":"⑤","state":{"a":5}},{"type":"input","_instance":"④","x":1},{"type":"text","_instance":"⑤","text":"t"}]`)
	s.Want("they are", fmt.Sprint(s.Mind.Tokens()), "[① ② ③ ⑤ ④]")
	s.Want("the State", modeltest.StateOf(s.Mind, "⑤"), `{"a":5,"n":7}`)
}
