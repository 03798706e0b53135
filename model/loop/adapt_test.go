package loop_test

import (
	"strings"
	"testing"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/prompt"
)

// greetTools is a palette in which one Tool's result is not quite the next one's parameter.
const greetTools = modeltest.StagedTools + `, "pay": {"type": "object", "properties": {"n": {"type": "integer"}}, "_approval": true},
	"greet": {"type": "object", "properties": {"user": {"type": "object", "properties": {"name": {"type": "string"}, "tone": {"type": "string"}},
		"required": ["name"], "additionalProperties": false}, "n": {"type": "integer"}}, "required": ["user"], "additionalProperties": false}`

const (
	notAdapted = `"config": {"adapt": false}`
	anna       = `"context": [{"type": "state", "state": {"user": {"userName": "Anna"}, "five": "five"}}]`
	greetAnna  = `{"calls":[{"_tool":"greet","user":"†state.user","_outputPath":"b"}],"output":null}`
)

// greeted plays a process in which greet gives the name that it was given.
func greeted(t *testing.T, rest ...string) *modeltest.Stage {
	s := modeltest.OnStageWith(t, greetTools, "", rest...)
	s.Work = func(_ string, params map[string]any) (any, *diag.Fault) { return params, nil }
	return s
}

func TestValuesThatAReferenceBroughtAreFittedToTheSchemaByTheLLM(t *testing.T) {
	s := greeted(t, anna)
	s.Says(greetAnna)
	b := s.Asks()
	if len(b.Questions) != 1 || b.Questions[0].Why == "" || len(b.Covered) != 1 {
		t.Fatalf("the Request is %+v", b)
	}
	s.Want("what is to be fitted", string(jsonval.Encode(jsonval.Normal(b.Questions[0].Params))), `{"user":{"userName":"Anna"}}`)
	if form := prompt.ResponseFormatFor(s.Idea, s.Bindings, b); !form.Strict {
		t.Error(form.NotStrictReason)
	}
	if prompt := prompt.Render(s.Idea, s.Bindings, b, nil)[2].Content; !strings.Contains(prompt, `- 1.1 greet {"user":{"userName":"Anna"}} does not fit: `) {
		t.Error(prompt)
	}
	s.Says(`{"calls":[{"_call":"1.1","_params":{"user":{"name":"Anna","tone":null}}}],"output":null}`)
	s.Want("the result", string(jsonval.Encode(s.Runs[""].State())), `{"b":{"user":{"name":"Anna"}},"five":"five","user":{"userName":"Anna"}}`)
	rec := s.Runs[""].Find("1.1")
	s.Want("the record", string(jsonval.Encode(jsonval.Normal(rec.Adapted.From)))+string(jsonval.Encode(jsonval.Normal(rec.Adapted.To))), `{"user":{"userName":"Anna"}}{"user":{"name":"Anna"}}`)
	log := s.Mind.TakeLog()
	if len(log) != 1 || log[0].Adapted == nil || log[0].Adapted.To == nil {
		t.Errorf("the log does not tell: %+v", log)
	}
}

func TestAllThatDoesNotFitIsAskedForInOneRequest(t *testing.T) {
	s := greeted(t, `"context": [{"type": "state", "_instance": "①", "state": {"user": {"userName": "Anna"}}},
		{"type": "state", "_instance": "②", "state": {"user": {"userName": "Ben"}}}]`)
	s.Says(`{"calls":[{"_tool":"greet","_instance":"*","user":"†state.user","_outputPath":"b"},{"_tool":"think","_instance":"①","x":"†state.user","_outputPath":"c"}],"output":null}`)
	b := s.Asks()
	s.Want("the question", b.Question(), "results of 1 latent Calls, and fit the values of 2")
	form := prompt.ResponseFormatFor(s.Idea, s.Bindings, b) // loose, as a result of think has a least length
	schema, err := jsonschema.CompileSchema(jsonval.Normal(form.Schema))
	if err != nil {
		t.Fatal(err)
	}
	answer := `{"calls":[{"_call":"1.1@①","_params":{"user":{"name":"Anna"}}},{"_call":"1.2@①","_output":"thought"},{"_call":"1.1@②","_params":{"user":{"name":"Ben"}}}],"output":null}`
	if err := schema.Validate(modeltest.Value(t, answer)); err != nil {
		t.Errorf("the form does not take it: %s", err)
	}
	if schema.Validate(modeltest.Value(t, strings.Replace(answer, "name", "userName", 1))) == nil {
		t.Error("the form takes what does not fit")
	}
	c := s.Says(answer)
	s.Want("no Idea's solution", string(jsonval.Encode(jsonval.Normal(c.Calls))), "[]")
	s.Want("the Requests", string(jsonval.Encode(jsonval.Normal(s.Mind.Result(loop.StatusRunning, false).Requests))), "2")
	for _, token := range []string{"①", "②"} {
		s.Want(token, string(s.Runs[token].Find("1.1@"+token).Status), "done")
	}
	s.AsksAbout("① ②")
}

func TestAnAnswerThatStillDoesNotFitIsAnErrorToTheNextRequest(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"the same again":          {`{"user":{"userName":"Anna"}}`, "bad_parameters: the values were fitted to the schema and still do not fit: "},
		"what it was not asked":   {`{"user":{"name":"Anna"},"n":3}`, ""},
		"nothing of it":           {`{}`, `bad_parameters: parameter "user" is missing among those that were fitted`},
		"null for what is wanted": {`{"user":null}`, "bad_parameters: the values were fitted to the schema and still do not fit: "},
	} {
		s := greeted(t, anna)
		s.Says(greetAnna)
		s.Says(`{"calls":[{"_call":"1.1","_params":` + c.answer + `}],"output":null}`)
		b := s.Asks()
		if got := modeltest.TroublesOf(b); len(b.Questions) > 0 || !strings.HasPrefix(strings.TrimPrefix(got, "1.1 "), c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q", name, got)
		}
		if _, there := s.Runs[""].Find("1.1").Params["n"]; there {
			t.Errorf("%s: it got a parameter that nobody gave it", name)
		}
	}
}

func TestAnAnswerThatNeverComesIsAskedForAgainAndPausesInTheEnd(t *testing.T) {
	s := greeted(t, anna)
	s.Says(greetAnna)
	for range 3 {
		s.Says(`{"calls":[],"output":null}`)
	}
	s.Expect(loop.StepPaused)
}

func TestALiteralThatDoesNotFitIsNotAdapted(t *testing.T) {
	for name, call := range map[string]string{
		"alone":              `{"_tool":"greet","user":{"userName":"Anna"},"_outputPath":"b"}`,
		"beside a Reference": `{"_tool":"greet","user":{"name":7,"tone":"†state.user.userName"},"_outputPath":"b"}`,
		"beside another one": `{"_tool":"greet","user":"†state.user","n":"five","_outputPath":"b"}`,
	} {
		s := greeted(t, anna)
		s.Says(`{"calls":[` + call + `],"output":null}`)
		if b := s.Asks(); len(b.Questions) > 0 || !strings.HasPrefix(modeltest.TroublesOf(b), "1.1 bad_parameters: ") {
			t.Errorf("%s: asked %v, troubles %q", name, b.Questions, modeltest.TroublesOf(b))
		}
	}
}

func TestFittingDoesNotChangeWhatWasWrittenLiterally(t *testing.T) {
	s := greeted(t, anna)
	s.Says(`{"calls":[{"_tool":"greet","user":{"tone":"warm","name":"†state.user"},"_outputPath":"b"}],"output":null}`)
	s.Want("what is to be fitted", string(jsonval.Encode(jsonval.Normal(s.Asks().Questions[0].Params))), `{"user":{"name":{"userName":"Anna"},"tone":"warm"}}`)
	s.Says(`{"calls":[{"_call":"1.1","_params":{"user":{"tone":"cold","name":"Anna"}}}],"output":null}`)
	s.Want("it has failed", modeltest.TroublesOf(s.Asks()), `1.1 bad_parameters: parameter "user": fitting it to the schema changed what was written literally`)
}

func TestAPersonIsShownWhatWasFittedAndFromWhat(t *testing.T) {
	s := greeted(t, anna)
	s.Says(`{"calls":[{"_tool":"pay","n":"†state.five","_outputPath":"b"}],"output":null}`)
	s.Says(`{"calls":[{"_call":"1.1","_params":{"n":5}}],"output":null}`)
	pending := s.Runs[""].Pending()
	if len(pending) != 1 || pending[0].Adapted == nil {
		t.Fatalf("%+v", pending)
	}
	s.Want("shown", string(jsonval.Encode(jsonval.Normal(pending[0].Params)))+string(jsonval.Encode(jsonval.Normal(pending[0].Adapted.From))), `{"n":5}{"n":"five"}`)
	s.Decide(ideafile.Approve, "1.1")
	s.Want("run", string(jsonval.Encode(jsonval.Normal(s.Runs[""].Find("1.1").Status))), `"done"`)
}

func TestNothingIsAdaptedWhereItIsSwitchedOffOrNobodyMayBeAsked(t *testing.T) {
	s := greeted(t, anna, notAdapted)
	s.Says(greetAnna)
	if b := s.Asks(); len(b.Questions) > 0 || !strings.HasPrefix(modeltest.TroublesOf(b), "1.1 bad_parameters: ") {
		t.Errorf("switched off: %v, %q", b.Questions, modeltest.TroublesOf(b))
	}
	s = modeltest.OnStageWith(t, greetTools, "", directContext(ideafile.StageComplete, `{"_tool":"greet","user":"†state.user","_outputPath":"b"}`, "", `{"user":{"userName":"Anna"}}`))
	s.RunsPlans()
	s.Expect(loop.StepOver)
	s.Want("a complete Plan", s.Statuses(), "① failed")
}

func TestAPlanThatRunsDirectlyGoesOnOnceItsValuesAreFitted(t *testing.T) {
	s := modeltest.OnStageWith(t, greetTools, "", directContext(ideafile.StageOptimal, `{"_tool":"greet","user":"†state.user","_outputPath":"b"}`, "", `{"user":{"userName":"Anna"}}`))
	s.RunsPlans()
	s.Says(`{"calls":[{"_call":"0.1@①","_params":{"user":{"name":"Anna","tone":null}}}],"output":null}`)
	s.Expect(loop.StepOver)
	s.Want("it", s.Statuses(), "① settled")
}
