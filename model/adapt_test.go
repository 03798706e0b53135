package model

import (
	"strings"
	"testing"
)

// greetTools is a palette in which one Tool's result is not quite the next one's parameter.
const greetTools = stagedTools + `, "pay": {"type": "object", "properties": {"n": {"type": "integer"}}, "_approval": true},
	"greet": {"type": "object", "properties": {"user": {"type": "object", "properties": {"name": {"type": "string"}, "tone": {"type": "string"}},
		"required": ["name"], "additionalProperties": false}, "n": {"type": "integer"}}, "required": ["user"], "additionalProperties": false}`

const (
	notAdapted = `"config": {"adapt": false}`
	anna       = `"context": [{"type": "state", "state": {"user": {"userName": "Anna"}, "five": "five"}}]`
	greetAnna  = `{"calls":[{"_tool":"greet","user":"†state.user","_outputPath":"b"}],"output":null}`
)

// greeted plays a process in which greet gives the name that it was given.
func greeted(t *testing.T, rest ...string) *stage {
	s := onStageWith(t, greetTools, "", rest...)
	s.work = func(_ string, params map[string]any) (any, *Fault) { return params, nil }
	return s
}

func TestValuesThatAReferenceBroughtAreFittedToTheSchemaByTheLLM(t *testing.T) {
	s := greeted(t, anna)
	s.says(greetAnna)
	b := s.asks()
	if len(b.Asking) != 1 || b.Asking[0].Why == "" || len(b.Covered) != 1 {
		t.Fatalf("the Request is %+v", b)
	}
	s.want("what is to be fitted", string(Encode(Normal(b.Asking[0].Params))), `{"user":{"userName":"Anna"}}`)
	if form := ComposeFor(s.idea, s.bindings, b); !form.Strict {
		t.Error(form.Reason)
	}
	if prompt := Prompt(s.idea, s.bindings, b, nil)[2].Content; !strings.Contains(prompt, `- 1.1 greet {"user":{"userName":"Anna"}} does not fit: `) {
		t.Error(prompt)
	}
	s.says(`{"calls":[{"_call":"1.1","_params":{"user":{"name":"Anna","tone":null}}}],"output":null}`)
	s.want("the result", string(Encode(s.runs[""].State())), `{"b":{"user":{"name":"Anna"}},"five":"five","user":{"userName":"Anna"}}`)
	rec := s.runs[""].Find("1.1")
	s.want("the record", string(Encode(Normal(rec.Adapted.From)))+string(Encode(Normal(rec.Adapted.To))), `{"user":{"userName":"Anna"}}{"user":{"name":"Anna"}}`)
	log := s.mind.TakeLog()
	if len(log) != 1 || log[0].Adapted == nil || log[0].Adapted.To == nil {
		t.Errorf("the log does not tell: %+v", log)
	}
}

func TestAllThatDoesNotFitIsAskedForInOneRequest(t *testing.T) {
	s := greeted(t, `"context": [{"type": "state", "_instance": "①", "state": {"user": {"userName": "Anna"}}},
		{"type": "state", "_instance": "②", "state": {"user": {"userName": "Ben"}}}]`)
	s.says(`{"calls":[{"_tool":"greet","_instance":"*","user":"†state.user","_outputPath":"b"},{"_tool":"think","_instance":"①","x":"†state.user","_outputPath":"c"}],"output":null}`)
	b := s.asks()
	s.want("the question", b.Question(), "results of 1 latent Calls, and fit the values of 2")
	form := ComposeFor(s.idea, s.bindings, b) // loose, as a result of think has a least length
	schema, err := CompileSchema(Normal(form.Schema))
	if err != nil {
		t.Fatal(err)
	}
	answer := `{"calls":[{"_call":"1.1@①","_params":{"user":{"name":"Anna"}}},{"_call":"1.2@①","_output":"thought"},{"_call":"1.1@②","_params":{"user":{"name":"Ben"}}}],"output":null}`
	if err := schema.Validate(value(t, answer)); err != nil {
		t.Errorf("the form does not take it: %s", err)
	}
	if schema.Validate(value(t, strings.Replace(answer, "name", "userName", 1))) == nil {
		t.Error("the form takes what does not fit")
	}
	c := s.says(answer)
	s.want("no Idea's solution", string(Encode(Normal(c.Calls))), "[]")
	s.want("the Requests", string(Encode(Normal(s.mind.Result(StatusRunning, false).Requests))), "2")
	for _, token := range []string{"①", "②"} {
		s.want(token, string(s.runs[token].Find("1.1@"+token).Status), "done")
	}
	s.asksAbout("① ②")
}

func TestAnAnswerThatStillDoesNotFitIsAnErrorToTheNextRequest(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"the same again":          {`{"user":{"userName":"Anna"}}`, "bad_parameters: the values were fitted to the schema and still do not fit: "},
		"what it was not asked":   {`{"user":{"name":"Anna"},"n":3}`, ""},
		"nothing of it":           {`{}`, `bad_parameters: parameter "user" is missing among those that were fitted`},
		"null for what is wanted": {`{"user":null}`, "bad_parameters: the values were fitted to the schema and still do not fit: "},
	} {
		s := greeted(t, anna)
		s.says(greetAnna)
		s.says(`{"calls":[{"_call":"1.1","_params":` + c.answer + `}],"output":null}`)
		b := s.asks()
		if got := troublesOf(b); len(b.Asking) > 0 || !strings.HasPrefix(strings.TrimPrefix(got, "1.1 "), c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q", name, got)
		}
		if _, there := s.runs[""].Find("1.1").Params["n"]; there {
			t.Errorf("%s: it got a parameter that nobody gave it", name)
		}
	}
}

func TestAnAnswerThatNeverComesIsAskedForAgainAndPausesInTheEnd(t *testing.T) {
	s := greeted(t, anna)
	s.says(greetAnna)
	for range maxBadInRow {
		s.says(`{"calls":[],"output":null}`)
	}
	s.expect(StepPaused)
}

func TestALiteralThatDoesNotFitIsNotAdapted(t *testing.T) {
	for name, call := range map[string]string{
		"alone":              `{"_tool":"greet","user":{"userName":"Anna"},"_outputPath":"b"}`,
		"beside a Reference": `{"_tool":"greet","user":{"name":7,"tone":"†state.user.userName"},"_outputPath":"b"}`,
		"beside another one": `{"_tool":"greet","user":"†state.user","n":"five","_outputPath":"b"}`,
	} {
		s := greeted(t, anna)
		s.says(`{"calls":[` + call + `],"output":null}`)
		if b := s.asks(); len(b.Asking) > 0 || !strings.HasPrefix(troublesOf(b), "1.1 bad_parameters: ") {
			t.Errorf("%s: asked %v, troubles %q", name, b.Asking, troublesOf(b))
		}
	}
}

func TestFittingDoesNotChangeWhatWasWrittenLiterally(t *testing.T) {
	s := greeted(t, anna)
	s.says(`{"calls":[{"_tool":"greet","user":{"tone":"warm","name":"†state.user"},"_outputPath":"b"}],"output":null}`)
	s.want("what is to be fitted", string(Encode(Normal(s.asks().Asking[0].Params))), `{"user":{"name":{"userName":"Anna"},"tone":"warm"}}`)
	s.says(`{"calls":[{"_call":"1.1","_params":{"user":{"tone":"cold","name":"Anna"}}}],"output":null}`)
	s.want("it has failed", troublesOf(s.asks()), `1.1 bad_parameters: parameter "user": fitting it to the schema changed what was written literally`)
}

func TestAPersonIsShownWhatWasFittedAndFromWhat(t *testing.T) {
	s := greeted(t, anna)
	s.says(`{"calls":[{"_tool":"pay","n":"†state.five","_outputPath":"b"}],"output":null}`)
	s.says(`{"calls":[{"_call":"1.1","_params":{"n":5}}],"output":null}`)
	pending := s.runs[""].Pending()
	if len(pending) != 1 || pending[0].Adapted == nil {
		t.Fatalf("%+v", pending)
	}
	s.want("shown", string(Encode(Normal(pending[0].Params)))+string(Encode(Normal(pending[0].Adapted.From))), `{"n":5}{"n":"five"}`)
	s.decide(Approve, "1.1")
	s.want("run", string(Encode(Normal(s.runs[""].Find("1.1").Status))), `"done"`)
}

func TestNothingIsAdaptedWhereItIsSwitchedOffOrNobodyMayBeAsked(t *testing.T) {
	s := greeted(t, anna, notAdapted)
	s.says(greetAnna)
	if b := s.asks(); len(b.Asking) > 0 || !strings.HasPrefix(troublesOf(b), "1.1 bad_parameters: ") {
		t.Errorf("switched off: %v, %q", b.Asking, troublesOf(b))
	}
	s = onStageWith(t, greetTools, "", directContext(StageComplete, `{"_tool":"greet","user":"†state.user","_outputPath":"b"}`, "", `{"user":{"userName":"Anna"}}`))
	s.runsPlans()
	s.expect(StepOver)
	s.want("a complete Plan", s.statuses(), "① failed")
}

func TestAPlanThatRunsDirectlyGoesOnOnceItsValuesAreFitted(t *testing.T) {
	s := onStageWith(t, greetTools, "", directContext(StageOptimal, `{"_tool":"greet","user":"†state.user","_outputPath":"b"}`, "", `{"user":{"userName":"Anna"}}`))
	s.runsPlans()
	s.says(`{"calls":[{"_call":"0.1@①","_params":{"user":{"name":"Anna","tone":null}}}],"output":null}`)
	s.expect(StepOver)
	s.want("it", s.statuses(), "① settled")
}
