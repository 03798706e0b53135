package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/tools"
	"processidea/tools/kinds"
	"processidea/tools/runner"
)

// echo is a kind of Tool of its own: `_activity: {"echo": {"times": N}}` repeats the parameter text.
type echo struct{}

type echoSpec struct{ Times int }

func (echo) Validate(spec any) error {
	if s, err := runner.DecodeSpec[echoSpec](spec); err != nil || s.Times < 1 {
		return errors.New("echo: times: want a number from 1")
	}
	return nil
}

func (echo) Run(_ context.Context, in runner.Input) (any, error) {
	s, _ := runner.DecodeSpec[echoSpec](in.Spec)
	return fmt.Sprintf("%s (%s, attempt %d)", strings.Repeat(in.Params["text"].(string), s.Times), in.IdempotencyKey,
		in.Attempt), nil
}

func withEcho(t *testing.T) *Activities {
	t.Helper()
	a := newWorker(t, llm.Config{})
	a.Tools = tools.NewRegistry()
	a.Runners = kinds.NewRunnerRegistry(kinds.Deps{Tools: a.Tools})
	a.Runners.Register("echo", echo{})
	return a
}

func ideaWith(t *testing.T, activity, more string) map[string]any {
	t.Helper()
	idea, err := jsonval.DecodeObject(
		[]byte(`{"schema": {"tools": {"t": {"properties": {"text": {"type": "string"}}, "_activity": ` + activity +
			`}}}` + more + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return idea
}

func TestANewKindOfToolIsOneRunner(t *testing.T) {
	t.Parallel()
	a := withEcho(t)
	source := ideaWith(t, `{"echo": {"times": 2}}`, "")
	prepared, err := a.PrepareTools(t.Context(), source, protocol.DelegationContext{})
	if err != nil || len(prepared.Problems) > 0 || prepared.Bindings["t"].Kind != "echo" {
		t.Fatalf("%v %+v", err, prepared)
	}
	idea, _ := ideafile.ReadIdea(source)
	binding := prepared.Bindings["t"]
	said, err := executeIn(t, a, protocol.ExecuteInput{
		ProcessID: "p", CallID: "1.1", Tool: "t", Binding: binding, Params: map[string]any{"text": "ho"},
		RunnerSpec: idea.Tools[0].RunnerSpec(binding, nil),
	})
	if err != nil || said != "hoho (p/main/1.1, attempt 1)" {
		t.Errorf("%v, %v", said, err)
	}
}

func TestAToolIsRefusedWhoseKindOrSpecIsWrong(t *testing.T) {
	t.Parallel()
	for activity, want := range map[string]string{
		`{"echo": {"times": 0}}`:         `echo: times: want a number from 1`,
		`{"grpc": {}}`:                   `no tools of the kind "grpc" are known; known kinds are echo, http, mcp`,
		`{"http": 5}`:                    `httptool: parse spec: not an object`,
		`{"http": {"url": "ftp://x"}}`:   `httptool: parse spec: url: `,
		`"nobody"`:                       `no activity "nobody" is registered`,
		`{"http": {}, "echo": {}}`:       `want a name, or one kind of tool`,
		`{"mcp": {"server": "unnamed"}}`: `config.mcp names no server "unnamed"`,
		`{"latent": {}}`:                 `want a name, or one kind of tool`,
	} {
		r, err := withEcho(t).PrepareTools(t.Context(), ideaWith(t, activity, ""), protocol.DelegationContext{})
		if err != nil || len(r.Problems) != 1 || !strings.HasPrefix(r.Problems[0].JSONPath,
			"$.schema.tools.t._activity") || !strings.Contains(r.Problems[0].Message, want) {
			t.Errorf("%s: %v, %+v", activity, err, r.Problems)
		}
	}
}

func TestInASimulationAKindNeedNotBeKnown(t *testing.T) {
	t.Parallel()
	a := withEcho(t)
	for activity, problems := range map[string]int{`{"grpc": {}}`: 0, `"nobody"`: 0, `{"echo": {"times": 0}}`: 1} {
		source := ideafile.Simulation{ToolResultsFrom: ideafile.FakedBySchemas,
			LLMRepliesFrom: ideafile.FakedBySchemas}.MarkIdea(ideaWith(t, activity, ""))
		r, err := a.PrepareTools(t.Context(), source, protocol.DelegationContext{})
		if err != nil || len(r.Problems) != problems {
			t.Errorf("%s: %v, %+v", activity, err, r)
		}
	}
	if v, err := executeIn(t, a,
		protocol.ExecuteInput{Tool: "t",
			Binding: ideafile.ToolBinding{Kind: "grpc", Simulation: &ideafile.Simulation{}}}); err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

func TestAKindThatOnlyAnotherWorkerKnowsIsTriedAgain(t *testing.T) {
	t.Parallel()
	_, err := executeIn(t, withEcho(t), protocol.ExecuteInput{Binding: ideafile.ToolBinding{Kind: "grpc"}})
	if app := refused(t, err); app.NonRetryable() {
		t.Error(app)
	}
}

func TestAProcessStartsWithNoTwoStepsOfOneID(t *testing.T) {
	t.Parallel()
	of := func(file string) string {
		return `{"type": "instruction", "file": "` + file +
			`", "instruction": {"instruction": {"steps": [{"id": "1", "text": "Ask."}]}}}`
	}
	for second, want := range map[string]string{"a.json": "",
		"b.json": `b.json: $.instruction.steps[0].id: a.json has a step "1" too`} {
		idea := ideaWith(t, `{"echo": {"times": 1}}`, `, "context": [`+of("a.json")+`, `+of(second)+`]`)
		r, err := withEcho(t).PrepareTools(t.Context(), idea, protocol.DelegationContext{})
		if err != nil || len(r.Problems) > 0 != (want != "") || !strings.Contains(r.Problems.Error(), want) {
			t.Errorf("%s: %v, %+v", second, err, r)
		}
	}
}
