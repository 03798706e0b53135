package loop_test

import (
	"strings"
	"testing"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/prompt"
	"processidea/model/turn"
)

// greetTools is a palette in which one Tool's result is not quite the next one's parameter.
const greetTools = modeltest.ScenarioToolsJSON + `, "pay": {"type": "object", "properties": {"n": {"type": "integer"}}, "_approval": true},
	"greet": {"type": "object", "properties": {"user": {"type": "object", "properties": {"name": {"type": "string"}, "tone": {"type": "string"}},
		"required": ["name"], "additionalProperties": false}, "n": {"type": "integer"}}, "required": ["user"], "additionalProperties": false}`

const (
	notAdapted = `"config": {"adapt": false}`
	anna       = `"context": [{"type": "state", "state": {"user": {"userName": "Anna"}, "five": "five"}}]`
	greetAnna  = `{"calls":[{"_tool":"greet","user":"†state.user","_outputPath":"b"}],"output":null}`
)

// greeted plays a process in which greet gives the name that it was given.
func greeted(t *testing.T, rest ...string) *modeltest.Scenario {
	s := modeltest.NewScenarioWithTools(t, greetTools, "", rest...)
	s.RunTool = func(_ string, params map[string]any) (any, *diag.Fault) { return params, nil }
	return s
}

func TestValuesThatAReferenceBroughtAreFittedToTheSchemaByTheLLM(t *testing.T) {
	t.Parallel()
	s := greeted(t, anna)
	s.ReplyWith(greetAnna)
	b := s.ExpectRequest()
	if len(b.Questions) != 1 || b.Questions[0].ParamsError == "" || len(b.Instances) != 1 {
		t.Fatalf("the Request is %+v", b)
	}
	s.WantEqual("what is to be fitted", string(jsonval.Encode(jsonval.ToJSONValue(b.Questions[0].Params))),
		`{"user":{"userName":"Anna"}}`)
	if form := prompt.ResponseFormatFor(s.Idea, s.Bindings, b); !form.IsStrict {
		t.Error(form.NotStrictReason)
	}
	if prompt := prompt.Render(s.Idea, s.Bindings, b, nil)[2].Content; !strings.Contains(prompt,
		`- 1.1 greet {"user":{"userName":"Anna"}} does not fit: `) {
		t.Error(prompt)
	}
	s.ReplyWith(`{"calls":[{"_call":"1.1","_params":{"user":{"name":"Anna","tone":null}}}],"output":null}`)
	s.WantEqual("the result", string(jsonval.Encode(s.InstanceByToken[""].State())),
		`{"b":{"user":{"name":"Anna"}},"five":"five","user":{"userName":"Anna"}}`)
	rec := s.InstanceByToken[""].FindCall("1.1")
	s.WantEqual("the record", string(jsonval.Encode(jsonval.ToJSONValue(rec.ParamsAdaptation.OriginalParams)))+
		string(jsonval.Encode(jsonval.ToJSONValue(rec.ParamsAdaptation.AdaptedParams))),
		`{"user":{"userName":"Anna"}}{"user":{"name":"Anna"}}`)
	log := s.Loop.TakeUnsealedLog()
	if len(log) != 1 || log[0].ParamsAdaptation == nil || log[0].ParamsAdaptation.AdaptedParams == nil {
		t.Errorf("the log does not tell: %+v", log)
	}
}

func TestAllThatDoesNotFitIsAskedForInOneRequest(t *testing.T) {
	t.Parallel()
	s := greeted(t, `"context": [{"type": "state", "_instance": "①", "state": {"user": {"userName": "Anna"}}},
		{"type": "state", "_instance": "②", "state": {"user": {"userName": "Ben"}}}]`)
	s.ReplyWith(
		`{"calls":[{"_tool":"greet","_instance":"*","user":"†state.user","_outputPath":"b"},{"_tool":"think","_instance":"①","x":"†state.user","_outputPath":"c"}],"output":null}`)
	b := s.ExpectRequest()
	s.WantEqual("the question", b.QuestionSummary(), "results of 1 latent Calls, and fit the values of 2")
	form := prompt.ResponseFormatFor(s.Idea, s.Bindings, b)
	schema, err := jsonschema.CompileSchema(jsonval.ToJSONValue(form.Schema))
	if err != nil {
		t.Fatal(err)
	}
	answer := `{"calls":[{"_call":"1.1@①","_params":{"user":{"name":"Anna","tone":null}}},{"_call":"1.2@①","_output":"thought"},{"_call":"1.1@②","_params":{"user":{"name":"Ben","tone":null}}}]}`
	if err := schema.Validate(modeltest.DecodeJSON(t, answer)); err != nil {
		t.Errorf("the form does not take it: %s", err)
	}
	if schema.Validate(modeltest.DecodeJSON(t, strings.Replace(answer, "name", "userName", 1))) == nil {
		t.Error("the form takes what does not fit")
	}
	c := s.ReplyWith(answer)
	s.WantEqual("no Idea's solution", string(jsonval.Encode(jsonval.ToJSONValue(c.Calls))), "[]")
	s.WantEqual("the Requests",
		string(jsonval.Encode(jsonval.ToJSONValue(s.Loop.Result(loop.StatusRunning, false).RequestCount))), "2")
	for _, token := range []string{"①", "②"} {
		s.WantEqual(token, string(s.InstanceByToken[token].FindCall("1.1@"+token).Status), "done")
	}
	s.ExpectRequestFor("① ②")
}

func TestAnAnswerThatStillDoesNotFitIsAnErrorToTheNextRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ answer, want string }{
		"the same again": {`{"user":{"userName":"Anna"}}`,
			"bad_parameters: the values were fitted to the schema and still do not fit: "},
		"what it was not asked": {`{"user":{"name":"Anna"},"n":3}`, ""},
		"nothing of it":         {`{}`, `bad_parameters: parameter "user" is missing among those that were fitted`},
		"null for what is wanted": {`{"user":null}`,
			"bad_parameters: the values were fitted to the schema and still do not fit: "},
	} {
		s := greeted(t, anna)
		s.ReplyWith(greetAnna)
		s.ReplyWith(`{"calls":[{"_call":"1.1","_params":` + c.answer + `}],"output":null}`)
		b := s.ExpectRequest()
		if got := describeErrors(b); len(b.Questions) > 0 ||
			!strings.HasPrefix(strings.TrimPrefix(got, "1.1 "), c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q", name, got)
		}
		if _, there := s.InstanceByToken[""].FindCall("1.1").Params["n"]; there {
			t.Errorf("%s: it got a parameter that nobody gave it", name)
		}
	}
}

func TestAnAnswerThatNeverComesIsAskedForAgainAndPausesInTheEnd(t *testing.T) {
	t.Parallel()
	s := greeted(t, anna)
	s.ReplyWith(greetAnna)
	for range 3 {
		s.ReplyWith(`{"calls":[],"output":null}`)
	}
	s.ExpectStep(loop.StepPaused)
}

func TestALiteralThatDoesNotFitIsNotAdapted(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]string{
		"alone":              `{"_tool":"greet","user":{"userName":"Anna"},"_outputPath":"b"}`,
		"beside a Reference": `{"_tool":"greet","user":{"name":7,"tone":"†state.user.userName"},"_outputPath":"b"}`,
		"beside another one": `{"_tool":"greet","user":"†state.user","n":"five","_outputPath":"b"}`,
	} {
		s := greeted(t, anna)
		s.ReplyWith(`{"calls":[` + call + `],"output":null}`)
		if b := s.ExpectRequest(); len(b.Questions) > 0 || !strings.HasPrefix(describeErrors(b),
			"1.1 bad_parameters: ") {
			t.Errorf("%s: asked %v, troubles %q", name, b.Questions, describeErrors(b))
		}
	}
}

func TestFittingDoesNotChangeWhatWasWrittenLiterally(t *testing.T) {
	t.Parallel()
	s := greeted(t, anna)
	s.ReplyWith(
		`{"calls":[{"_tool":"greet","user":{"tone":"warm","name":"†state.user"},"_outputPath":"b"}],"output":null}`)
	s.WantEqual("what is to be fitted",
		string(jsonval.Encode(jsonval.ToJSONValue(s.ExpectRequest().Questions[0].Params))),
		`{"user":{"name":{"userName":"Anna"},"tone":"warm"}}`)
	s.ReplyWith(`{"calls":[{"_call":"1.1","_params":{"user":{"tone":"cold","name":"Anna"}}}],"output":null}`)
	s.WantEqual("it has failed", describeErrors(s.ExpectRequest()),
		`1.1 bad_parameters: parameter "user": fitting it to the schema changed what was written literally`)
}

func TestAPersonIsShownWhatWasFittedAndFromWhat(t *testing.T) {
	t.Parallel()
	s := greeted(t, anna)
	s.ReplyWith(`{"calls":[{"_tool":"pay","n":"†state.five","_outputPath":"b"}],"output":null}`)
	s.ReplyWith(`{"calls":[{"_call":"1.1","_params":{"n":5}}],"output":null}`)
	pending := s.InstanceByToken[""].PendingApprovals()
	if len(pending) != 1 || pending[0].ParamsAdaptation == nil {
		t.Fatalf("%+v", pending)
	}
	s.WantEqual("shown", string(jsonval.Encode(jsonval.ToJSONValue(pending[0].Params)))+
		string(jsonval.Encode(jsonval.ToJSONValue(pending[0].ParamsAdaptation.OriginalParams))), `{"n":5}{"n":"five"}`)
	s.Decide(policy.Approve, "1.1")
	s.WantEqual("run", string(jsonval.Encode(jsonval.ToJSONValue(s.InstanceByToken[""].FindCall("1.1").Status))),
		`"done"`)
}

func TestNothingIsAdaptedWhereItIsSwitchedOffOrNobodyMayBeAsked(t *testing.T) {
	t.Parallel()
	s := greeted(t, anna, notAdapted)
	s.ReplyWith(greetAnna)
	if b := s.ExpectRequest(); len(b.Questions) > 0 || !strings.HasPrefix(describeErrors(b),
		"1.1 bad_parameters: ") {
		t.Errorf("switched off: %v, %q", b.Questions, describeErrors(b))
	}
	s = modeltest.NewScenarioWithTools(t, greetTools, "",
		directContext(ideafile.PlanStageComplete, `{"_tool":"greet","user":"†state.user","_outputPath":"b"}`, "",
			`{"user":{"userName":"Anna"}}`))
	s.RunDirectPlans()
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("a complete Plan", s.DescribeInstances(), "① failed")
}

func TestAPlanThatRunsDirectlyGoesOnOnceItsValuesAreFitted(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScenarioWithTools(t, greetTools, "",
		directContext(ideafile.PlanStageOptimal, `{"_tool":"greet","user":"†state.user","_outputPath":"b"}`, "",
			`{"user":{"userName":"Anna"}}`))
	s.RunDirectPlans()
	s.ReplyWith(`{"calls":[{"_call":"0.1@①","_params":{"user":{"name":"Anna","tone":null}}}],"output":null}`)
	s.ExpectStep(loop.StepFinished)
	s.WantEqual("it", s.DescribeInstances(), "① settled")
}

// A CSV file's columns are texts, and the Tool wants a number: who reads why the process paused is told so, and the
// cure.
func TestAPauseSaysWhatTheRequestThatFailedWasMadeFor(t *testing.T) {
	t.Parallel()
	const tools = modeltest.ScenarioToolsJSON +
		`, "pay": {"type": "object", "properties": {"to": {"type": "object", "properties": {"n": {"type": "integer"}}}}}`
	const rows = `"context": [{"type": "input", "_instance": "①", "input": {"amount": "250"}}, {"type": "input", "_instance": "②", "input": {"amount": "7"}}]`
	const pay = `{"calls":[{"_tool":"pay","_instance":"*","to":{"n":"†input.amount"},"_outputPath":"paid"}],"output":null}`
	const cure = `†input.amount is the text "250": if it comes from a CSV file, give the column its type in the Idea's context: ` +
		`{"type": "input", "schema": {"properties": {"amount": {"type": "integer"}}}}`
	gone := turn.LLMReply{IsNotRetryable: true, Fault: diag.Faultf(turn.CodeNotJSON,
		"rehearsal: no reply for request 2")}
	for config, want := range map[string]string{
		`"config": {"adapt": true}`: "rehearsal: no reply for request 2; request 2 was to fit what References " +
			"brought to a Tool: 1.1@①, pay: ",
		notAdapted: "rehearsal: no reply for request 2; request 2 was made because not all went " +
			"well: 1.1: ",
	} {
		s := modeltest.NewScenarioWithTools(t, tools, "", rows, config)
		s.ReplyWith(pay)
		s.InterruptRequest(gone)
		got := s.Loop.PauseReason.Message
		if !strings.HasPrefix(got, want) || !strings.Contains(got, cure) || !strings.HasSuffix(got, "(and 1 more)") {
			t.Errorf("%s: it says %s", config, got)
		}
	}
	s := modeltest.NewScenarioWithTools(t, tools, "", rows)
	s.InterruptRequest(gone)
	s.WantEqual("of the first Request", s.Loop.PauseReason.Message, "rehearsal: no reply for request 2")
}
