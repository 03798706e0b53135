package processtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"processidea/client"
	"processidea/model/loop"
	"processidea/starter/processtest"
	"processidea/tools"
)

// outside has a Tool of every kind: a Go function, HTTP, a delegate, one that the LLM plays, and one of MCP.
const outside = `{
	"meta": {"path": "outside", "version": "1"},
	"schema": {"tools": {
		"pay":   {"type": "object", "properties": {"cents": {"type": "integer"}}, "required": ["cents"],
			"_activity": {"http": {"url": "https://pay.example/v1/payments", "headers": {"Authorization": "Bearer $env:PAY_TOKEN"}}}, "_approval": true},
		"read":  {"type": "object", "properties": {"path": {"type": "string"}}, "_activity": {"mcp": {"server": "files", "tool": "read"}}},
		"check": {"type": "object", "properties": {"name": {"type": "string"}}, "_delegate": "check.json"},
		"guess": {"type": "object", "properties": {"of": {"type": "string"}}, "_output": {"type": "integer"}},
		"now":   {"type": "object", "_activity": "currentTime"},
		"clock": {"type": "object", "_activity": "currentTime"}
	}},
	"config": {"mcp": {"files": {"command": ["none"]}}},
	"context": [
		{"type": "text", "text": "Do it."},
		{"type": "state", "state": {}, "schema": {"type": "object", "required": ["paid", "read", "checked", "guess", "now", "clock"]}}
	]
}`

const check = `{
	"meta": {"path": "check", "version": "1"},
	"schema": {"tools": {"ask": {"type": "object", "properties": {"who": {"type": "string"}}, "_approval": true}}},
	"context": [{"type": "text", "text": "Check the name."}, {"type": "state", "state": {}, "schema": {"type": "object", "required": ["fine"]}}]
}`

const doIt = `{"solution": {"calls": [
	{"_tool": "pay", "cents": 250, "_outputPath": "paid"}, {"_tool": "read", "path": "a.txt", "_outputPath": "read"},
	{"_tool": "check", "name": "Ada", "_outputPath": "checked"}, {"_tool": "guess", "of": "it", "_outputPath": "guess"},
	{"_tool": "now", "_outputPath": "now"}, {"_tool": "read2", "_outputPath": "read2"}, {"_tool": "clock", "_outputPath": "clock"}]}}`

// folder writes files into a folder of their own.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for n := 0; n < len(files); n += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[n]), []byte(files[n+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func fakes() []processtest.Option {
	return []processtest.Option{
		processtest.Fake("pay", func(_ context.Context, in struct {
			Cents int `json:"cents"`
		}) (string, error) {
			return fmt.Sprintf("paid %d", in.Cents), nil
		}),
		processtest.FakeResult("read", "text"), processtest.FakeResult("guess", 7),
		processtest.FakeResult("now", "noon"), processtest.WithReplies(doIt),
		processtest.WithoutMCPServers(), processtest.FakeResult("read2", "text"),
	}
}

func TestAToolOfAnyKindIsRunByItsFake(t *testing.T) {
	t.Setenv("PROCESSIDEA_HTTP_ALLOW", "*")
	t.Setenv("PROCESSIDEA_PRICES", "no such file")
	p := processtest.Start(t, folder(t, "idea.json", outside, "check.json", check),
		append(fakes(), processtest.FakeResult("check", map[string]any{"fine": true}))...)
	p.Approve(p.AwaitApprovalOf("pay"))
	state := p.State("").(map[string]any)
	clock := state["clock"]
	delete(state, "clock")
	if got := processtest.JSON(
		state); got != `{"checked":{"fine":true},"guess":7,"now":"noon","paid":"paid 250","read":"text","read2":"text"}` {
		t.Error(got)
	}
	if clock == "noon" {
		t.Error("the fake of one Tool has run another that the same function runs")
	}
	calls := p.CallAttempts("pay")
	if len(calls) != 1 || processtest.JSON(calls[0].Params) != `{"cents":250}` || calls[0].Result != "paid 250" ||
		calls[0].CallID != "1.1" || calls[0].Attempt != 1 {
		t.Errorf("%+v", calls)
	}
	if asked := p.RecordedRequests(); len(asked) != 1 || asked[0].Number != 1 ||
		!strings.Contains(asked[0].Text(), "Do it.") {
		t.Errorf("%+v", asked)
	}
}

func TestADelegateWaitsForAPersonBesideItsProcess(t *testing.T) {
	replies := processtest.WithReplies(
		`{"when": "Check the name.", "solution": {"calls": [{"_tool": "ask", "who": "Ada", "_outputPath": "fine"}]}}`,
		doIt)
	p := processtest.Start(t, folder(t, "idea.json", outside, "check.json", check),
		append(fakes(), replies, processtest.FakeResult("ask", true))...)
	if waiting := p.AwaitApprovals(); len(waiting) != 2 {
		t.Errorf("%+v", waiting)
	}
	p.Approve(p.AwaitApprovalOf("ask"), "ann", "staff")
	p.Reject(p.AwaitApprovalOf("pay"), "too much", "bob")
	p.ResultAtRest()
	if calls := p.CallAttempts("ask"); len(calls) != 1 || !strings.HasPrefix(calls[0].ProcessID, p.ID()+"/") {
		t.Errorf("%+v", calls)
	}
	if len(p.CallAttempts("pay")) != 0 {
		t.Error("what was rejected has run")
	}
}

// rows has an instance for each row.
const rows = `{
	"meta": {"path": "rows", "version": "1"},
	"schema": {"tools": {"double": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "_activity": "double", "_approval": {"when": {"properties": {"n": {"minimum": 3}}}}}}},
	"context": [{"type": "text", "text": "Double it."}, {"type": "state", "state": {}, "schema": {"type": "object", "required": ["doubled"]}}]
}`

func double(failures int64) processtest.Option {
	var failed atomic.Int64
	return processtest.WithTools(func(r *tools.Registry) {
		tools.Register(r, "double", func(_ context.Context, in struct {
			N int `json:"n"`
		}) (int, error) {
			if failed.Add(1) <= failures {
				return 0, errors.New("not yet")
			}
			return 2 * in.N, nil
		})
	})
}

const doubleIt = `{"solution": {"calls": [{"_tool": "double", "_instance": "*", "n": "†input.n", "_outputPath": "doubled"}]}}`

func TestEachRowIsAnInstance(t *testing.T) {
	t.Parallel()
	p := processtest.Start(t, folder(t, "idea.json", rows, "instances.jsonl", `{"n": 100}`), double(0),
		processtest.WithReplies(doubleIt),
		processtest.WithInstances(map[string]any{"n": 1}, map[string]any{"n": 2},
			map[string]any{"n": 3, "_instance": "three"}))
	waiting := p.AwaitApprovals()
	if len(waiting) != 1 || waiting[0].Instance != "three" {
		t.Errorf("%+v", waiting)
	}
	p.CheckState("②", `{"doubled": 4}`) // the process rests
	p.Answer(waiting[0], 5)
	p.CheckState("three", `{"doubled": 5}`)
	if r := p.Result(); r.Status != loop.StatusCompleted || len(p.CallAttempts("double")) != 2 {
		t.Errorf("%+v", r)
	}
}

func TestAnAttemptThatFailsIsACallToo(t *testing.T) {
	t.Parallel()
	p := processtest.Start(t, folder(t, "idea.json", rows), double(1), processtest.WithReplies(doubleIt),
		processtest.WithInstances(map[string]any{"n": 1}))
	p.CheckState("①", `{"doubled": 2}`)
	if calls := p.CallAttempts("double"); len(calls) != 2 || calls[0].Err == nil || calls[1].Attempt != 2 {
		t.Errorf("%+v", calls)
	}
}

func TestTheErrorOfAFakeIsFinal(t *testing.T) {
	t.Parallel()
	p := processtest.Start(t, folder(t, "idea.json", rows), double(0),
		processtest.FakeError("double", errors.New("never")),
		processtest.WithReplies(doubleIt, `{"solution": {"calls": []}}`),
		processtest.WithInstances(map[string]any{"n": 1}))
	r := p.ResultAtRest()
	if calls := p.CallAttempts("double"); len(calls) != 1 || len(r.Failures) != 1 ||
		!strings.Contains(r.Failures[0].Message, "never") {
		t.Errorf("%+v %+v", calls, r)
	}
	if asked := p.RecordedRequests(); len(asked) < 2 || !strings.Contains(asked[1].Text(), "never") {
		t.Error("the LLM was not told")
	}
}

// watched is a test whose failure is what is tested.
type watched struct {
	testing.TB
	said []string
}

func (w *watched) Errorf(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}
func (w *watched) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	runtime.Goexit()
}

func TestWhatFailsSaysWhy(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs a dozen servers")
	}
	dir := folder(t, "idea.json", rows)
	one := processtest.WithInstances(map[string]any{"n": 1})
	three := processtest.WithInstances(map[string]any{"n": 3})
	start := func(t testing.TB, options ...processtest.Option) *processtest.Process {
		return processtest.Start(t, dir, append([]processtest.Option{double(0), processtest.WithReplies(doubleIt)},
			options...)...)
	}
	for name, c := range map[string]struct {
		do   func(t testing.TB)
		want string
	}{
		"no such file": {func(t testing.TB) { processtest.Start(t, filepath.Join(dir, "other.json")) },
			"other.json"},
		"an Idea's form": {func(w testing.TB) { processtest.Start(w, folder(t, "idea.json", `{"cotnext": []}`)) },
			"cotnext"},
		"an unknown Tool": {func(w testing.TB) { processtest.Start(w, dir, one, processtest.WithReplies(doubleIt)) },
			`"double"`},
		"a fake of none": {func(t testing.TB) { start(t, one, processtest.FakeResult("halve", 1)) },
			"fake halve: the Idea has no Tool of this name; it has double"},
		"a broken reply": {func(t testing.TB) { start(t, one, processtest.WithReplies(`{"solution": {`)) },
			"replies given by the test: line 1"},
		"nobody is asked": {func(t testing.TB) { start(t, one).AwaitApprovals() }, "waits for nobody: it is completed"},
		"somebody is": {func(t testing.TB) { start(t, three).Result() },
			`waits for a person at 1.1@① double {"n":3}`},
		"of another Tool": {func(t testing.TB) { start(t, three).AwaitApprovalOf("halve") },
			"0 Calls of halve wait for a person, not 1; it waits at 1.1@① double"},
		"another State": {func(t testing.TB) { start(t, one).CheckState("①", `{"doubled": 3}`) },
			"{\"doubled\":2}\nnot\n\t{\"doubled\":3}"},
		"no such instance": {func(t testing.TB) { start(t, one).CheckState("②", `{}`) }, `has no instance "②"`},
		"a setting": {func(t testing.TB) {
			start(t, one, processtest.WithVariable("PROCESSIDEA_PRICES", "none"))
		}, "PROCESSIDEA_PRICES"},
		"no reply left": {func(t testing.TB) {
			start(t, one, processtest.WithReplies(`{"solution": {"calls": []}}`)).Result()
		}, "no reply for request 2"},
		"time": {func(w testing.TB) {
			block := processtest.Fake("double", func(ctx context.Context, _ map[string]any) (int, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			})
			start(w, one, block, processtest.WithTimeout(time.Second)).Result()
		}, "has not come to rest within 1s: it is running"},
		"a decision": {func(t testing.TB) {
			p := start(t, three)
			waiting := p.AwaitApprovalOf("double")
			if err := p.Decide(waiting.Process, client.Decision{Kind: client.Approve, CallID: "7.7@①"}); err == nil {
				panic("taken")
			}
			p.Amend(waiting, map[string]any{"n": "three"})
		}, "amend"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &watched{TB: t}
			over := make(chan struct{})
			go func() {
				defer close(over)
				c.do(w)
			}()
			<-over
			if said := strings.Join(w.said, "\n"); !strings.Contains(said, c.want) {
				t.Errorf("%q", said)
			}
		})
	}
}
