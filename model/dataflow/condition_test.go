package dataflow_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// conditional is an instance with a Plan that runs directly, of Calls of a Tool do, each written as parameters and meta
// properties.
func conditional(t interface{ Fatal(...any) }, start string, calls ...string) *dataflow.Instance {
	source, err := jsonval.DecodeObject([]byte(`{"schema": {"tools": {"do": {"type": "object", "properties": {"x": {}, "y": {}}, "_activity": "do"}}},
		"context": [{"type": "input", "input": {"kind": "a"}}, {"type": "state", "state": ` + start + `},
			{"type": "plan", "stage": "optimal", "plan": [` + strings.Join(calls, ", ") + `]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	idea, problems := ideafile.ReadIdea(source)
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	i := dataflow.New(ideafile.Palette{Tools: idea.Tools,
		BindingByTool: map[string]ideafile.ToolBinding{"do": {Kind: ideafile.KindGo}}}, idea.Context, "")
	i.StartDirectPlan()
	return i
}

// runThrough ends every Call with its parameter y, or as failed where that is "fail", in an order that pick chooses.
func runThrough(i *dataflow.Instance, pick func(n int) int) string {
	var running []dataflow.ReadyCall
	for running = append(running, i.Advance()...); len(running) > 0; running = append(running, i.Advance()...) {
		n := pick(len(running))
		ready := running[n]
		running = append(running[:n:n], running[n+1:]...)
		if ready.Params["y"] == "fail" {
			i.FailCall(ready.Record.ID, diag.Faultf(ideafile.CodeToolFailed, "no luck"))
		} else {
			i.SucceedCall(ready.Record.ID, ready.Params["y"])
		}
	}
	var parts []string
	for _, rec := range i.CallRecords() {
		part := string(rec.Status)
		if rec.Fault != nil {
			part += " " + rec.Fault.Code
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func TestACallWithAConditionRunsWhereItHolds(t *testing.T) {
	t.Parallel()
	const (
		high = `"_when": {"properties": {"state": {"properties": {"score": {"type": "number", "minimum": 10}}, "required": ["score"]}}}`
		low  = `"_unless": {"properties": {"state": {"properties": {"score": {"type": "number", "maximum": 5}}, "required": ["score"]}}}`
		kind = `"_when": {"properties": {"input": {"properties": {"kind": {"const": "a"}}}}}`
	)
	score := func(v string) string { return `{"_tool": "do", "y": ` + v + `, "_outputPath": "score"}` }
	gated := `{"_tool": "do", "y": "yes", "_outputPath": "verdict", ` + high + `, ` + low + `}`
	otherwise := `{"_tool": "do", "y": "no", "_outputPath": "verdict"}`
	reader := `{"_tool": "do", "x": "†state.verdict", "y": 1, "_outputPath": "told"}`
	for name, row := range map[string]struct {
		calls []string
		want  string
	}{
		"it holds": {[]string{score("12"), gated, otherwise, reader},
			"done, done, skipped, done"},
		"it does not: another takes over": {[]string{score("3"), gated, otherwise, reader},
			"done, skipped, done, done"},
		"it does not: readers are skipped": {[]string{score("3"), gated, reader}, "done, skipped, skipped"},
		"it cannot be told": {[]string{score("7"), gated, otherwise, reader},
			"done, failed undecided, failed undecided, blocked blocked"},
		"it cannot be told, and the other becomes ready later": {
			[]string{score("7"), `{"_tool": "do", "y": 1, "_outputPath": "first"}`, gated,
				`{"_tool": "do", "x": "†state.first", "y": "no", "_outputPath": "verdict"}`},
			"done, done, failed undecided, failed undecided"},
		"what it reads failed": {[]string{score(`"fail"`), gated, reader},
			"failed tool_failed, failed undecided, blocked blocked"},
		"without unless it is skipped": {[]string{score("7"), `{"_tool": "do", "y": 1, ` + high + `}`},
			"done, skipped"},
		"over the input": {[]string{`{"_tool": "do", "y": 1, ` + kind + `}`}, "done"},
		"what it takes never comes, and it is skipped all the same": {
			[]string{score("3"), `{"_tool": "do", "x": "†state.never", "y": 1, ` + high + `, ` + low + `}`},
			"done, skipped"},
		"it holds, and what it takes never comes": {
			[]string{score("12"), `{"_tool": "do", "x": "†state.never", "y": 1, ` + high + `}`},
			"done, blocked blocked"},
		"only what stands before it counts": {[]string{gated, score("12")},
			"failed undecided, done"},
		"each awaits the other": {[]string{`{"_tool": "do", "x": "†state.verdict", "y": 20, "_outputPath": "score"}`,
			gated, reader},
			"blocked blocked, failed undecided, blocked blocked"},
	} {
		t.Run(name, func(t *testing.T) {
			i := conditional(t, `{}`, row.calls...)
			if got := runThrough(i, func(int) int { return 0 }); got != row.want {
				t.Errorf("%s\nwant %s", got, row.want)
			}
			if fault := i.DirectPlanFault(); (fault != nil) != (strings.Contains(row.want, "failed") ||
				strings.Contains(row.want, "blocked")) {
				t.Errorf("the fault is %v", fault)
			}
		})
	}
}

func TestTheLLMCannotWriteAConditionIntoACall(t *testing.T) {
	t.Parallel()
	i := conditional(t, `{}`)
	call := map[string]any{"_tool": "do", "y": jsonval.ToJSONValue(1), "_when": map[string]any{}}
	i.AcceptCall(1, 1, ideafile.ParseWrittenCall(call))
	i.CloseRequest(1)
	if got := runThrough(i, func(int) int { return 0 }); got != "failed unknown_key" {
		t.Errorf("it is %s", got)
	}
}

// Whatever comes back first, each Call ends alike, and nothing is left waiting; carried over at any time, too.
func TestConditionsDependOnThePlanAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		place := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		var calls []string
		for range rapid.IntRange(2, 8).Draw(t, "calls") {
			call := fmt.Sprintf(`{"_tool": "do", "y": %s`,
				rapid.SampledFrom([]string{"1", "2", "3", `"fail"`}).Draw(t, "result"))
			if rapid.Bool().Draw(t, "reads") {
				call += `, "x": "†state.` + place.Draw(t, "read") + `"`
			}
			if rapid.IntRange(0, 4).Draw(t, "writes") > 0 {
				call += `, "_outputPath": "` + place.Draw(t, "path") + `"`
			}
			if rapid.Bool().Draw(t, "conditional") {
				zone := func(bound string) string {
					return fmt.Sprintf(
						`{"properties": {"state": {"properties": {%q: {"type": "number", %s}}, "required": [%[1]q]}}}`,
						place.Draw(t, "tested"), bound)
				}
				call += `, "_when": ` + zone(`"minimum": 2`)
				if rapid.Bool().Draw(t, "unless") {
					call += `, "_unless": ` + zone(`"maximum": 1`)
				}
			}
			calls = append(calls, call+"}")
		}
		first := conditional(t, `{}`, calls...)
		want := runThrough(first, func(int) int { return 0 })
		if strings.Contains(want, "waiting") {
			t.Fatalf("something waits for ever: %s\n%s", want, strings.Join(calls, "\n"))
		}
		second := conditional(t, `{}`, calls...)
		got := runThrough(second, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "next") })
		if got != want || !jsonval.Equal(first.State(), second.State()) {
			t.Fatalf("%s and %s\n%s", want, got, strings.Join(calls, "\n"))
		}
	})
}
