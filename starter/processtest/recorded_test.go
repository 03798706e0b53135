package processtest_test

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	modelcheck "processidea/model/check"
	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/starter/processtest"
)

// recordedFlows names a folder with workflows of others: wfcommons/ with instances of WfCommons (WfInstances, schema
// 1.5), nestful/ with the data of NESTFUL, each under the names of their files. They are not part of this repository.
const recordedFlows = "PROCESSIDEA_RECORDED_WORKFLOWS"

// recordedFlow is a workflow of others as an Idea whose Plan runs directly.
type recordedFlow struct {
	name string
	idea map[string]any
	// troubles are what is wrong with the recorded Plan, found without our code: by the position of the Call; -1 for
	// its output.
	troubles map[int][]string
	// late: something is wrong that is seen only when a Call is ready, so that it fails.
	late bool
	// play gives the result of a Call of a Tool.
	play func(tool string, params map[string]any) any
	// state is the State that it comes to, found without our code; nil where nobody knows it.
	state any
}

func (f *recordedFlow) trouble(call int, format string, args ...any) {
	f.troubles[call] = append(f.troubles[call], fmt.Sprintf(format, args...))
}

// recordedFiles lists the recorded files of a kind; the test is skipped where there are none.
func recordedFiles(t *testing.T, pattern string) []string {
	t.Helper()
	folder := os.Getenv(recordedFlows)
	if folder == "" {
		t.Skipf("%s names no folder with workflows of others", recordedFlows)
	}
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(files) == 0 {
		t.Skipf("%s has no %s", folder, pattern)
	}
	return files
}

func decoded(t *testing.T, file string) any {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonval.Decode(data)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

var placeOfCall = regexp.MustCompile(`\.plan\[(\d+)\]`)

// tally counts what became of recorded workflows.
type tally struct {
	accepted, refused, late, calls int
	reasons                        map[string]int
	largest                        int
	sound                          []*recordedFlow // the accepted ones
}

// holds has a recorded workflow checked and run: what check refuses must be wrong with it, and what it accepts must run
// to its end, and come to the same in whatever order its Calls end.
func (r *tally) holds(t *testing.T, f *recordedFlow) {
	t.Helper()
	idea, problems := ideafile.ReadIdea(f.idea)
	bindings := map[string]ideafile.ToolBinding{}
	for _, tool := range idea.Tools {
		bindings[tool.Name] = ideafile.ToolBinding{Kind: ideafile.KindGo, GoFunctionName: tool.Name}
	}
	problems = append(problems, modelcheck.Check(idea, bindings)...).Errors()
	calls := f.idea["context"].([]any)[1].(map[string]any)["plan"].([]any)
	r.calls += len(calls)
	r.largest = max(r.largest, len(calls))
	for _, p := range problems {
		at := -1
		if m := placeOfCall.FindStringSubmatch(p.JSONPath); m != nil {
			at, _ = strconv.Atoi(m[1])
		}
		if len(f.troubles[at]) == 0 {
			t.Errorf("%s: %s: nothing is wrong with it", f.name, p)
		}
	}
	if len(problems) > 0 {
		r.refused++
		seen := map[string]bool{}
		for _, list := range f.troubles {
			for _, why := range list {
				kind, _, _ := strings.Cut(why, ":")
				seen[kind] = true
			}
		}
		for kind := range seen {
			r.reasons[kind]++
		}
		return
	}
	if len(f.troubles) > 0 {
		t.Errorf("%s is accepted, and wrong: %v", f.name, f.troubles)
		return
	}
	if f.late {
		r.late++
		if _, err := f.run(idea, bindings, 0); err == nil {
			t.Errorf("%s: its Calls do not fit their Tools, and run", f.name)
		}
		return
	}
	r.accepted++
	r.sound = append(r.sound, f)
	want := f.state
	for k := range 3 {
		state, err := f.run(idea, bindings, k)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			return
		}
		if want == nil {
			want = state
		}
		if !jsonval.Equal(state, want) {
			t.Errorf("%s: run %d comes to another State", f.name, k+1)
			return
		}
	}
	f.state = want
}

// run runs the Plan with every Tool played. The Calls that run together end in their order, in the reverse one, or a
// few at a time in any.
func (f *recordedFlow) run(idea *ideafile.Idea, bindings map[string]ideafile.ToolBinding, order int) (any, error) {
	flow := dataflow.New(ideafile.Palette{Tools: idea.Tools, BindingByTool: bindings}, idea.Context, "")
	flow.StartDirectPlan()
	dice := rand.New(rand.NewSource(int64(order)))
	running := flow.Advance()
	for len(running) > 0 {
		some := len(running)
		switch order {
		case 1:
			slices.Reverse(running)
		case 2:
			dice.Shuffle(len(running), func(a, b int) { running[a], running[b] = running[b], running[a] })
			some = 1 + dice.Intn(len(running))
		}
		for _, ready := range running[:some] {
			result := f.play(ready.Tool.Name, ready.Params)
			if err := ready.Tool.OutputSchema.Validate(result); err != nil {
				return nil, fmt.Errorf("%s: what is played does not fit: %w", ready.Record.ID, err)
			}
			flow.SucceedCall(ready.Record.ID, result)
		}
		running = append(running[some:], flow.Advance()...)
	}
	for _, rec := range flow.CallRecords() {
		if rec.Status != ideafile.CallDone {
			return nil, fmt.Errorf("%s %s is %s: %v", rec.ID, rec.Tool, rec.Status, rec.Fault)
		}
	}
	return flow.State(), nil
}

// runForReal runs a recorded workflow on the real engine, with every Tool played, and compares its end.
func (f *recordedFlow) runForReal(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "idea.json")
	if err := os.WriteFile(file, jsonval.Encode(f.idea), 0o600); err != nil {
		t.Fatal(err)
	}
	var options []processtest.Option
	for tool := range f.idea["schema"].(map[string]any)["tools"].(map[string]any) {
		options = append(options,
			processtest.Fake(tool, func(_ context.Context, params map[string]any) (any, error) {
				return f.play(tool, params), nil
			}))
	}
	r := processtest.Run(t, file, options...)
	if got := r.Instances[""].State; !jsonval.Equal(got, f.state) || r.RequestCount != 0 {
		t.Errorf("%s: %s after %d Requests: %s\nwant %s", f.name, r.Status, r.RequestCount, jsonval.Encode(got),
			jsonval.Encode(f.state))
	}
}

// runSomeForReal runs the smallest few of those that check accepts, twice each.
func (r *tally) runSomeForReal(t *testing.T, few int) {
	t.Helper()
	slices.SortStableFunc(r.sound, func(a, b *recordedFlow) int {
		return len(jsonval.Encode(a.idea)) - len(jsonval.Encode(b.idea))
	})
	for _, f := range r.sound[:min(few, len(r.sound))] {
		for range 2 {
			f.runForReal(t)
		}
	}
}

func (r *tally) log(t *testing.T, what string) {
	t.Helper()
	t.Logf("%s: %d accepted, and alike 3 times of 3; %d refused (%v), %d with a Call that fails when it is ready; %d "+
		"Calls, %d in the largest",
		what, r.accepted, r.refused, r.reasons, r.late, r.calls, r.largest)
}
