package split_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/quality"
	"processidea/model/split"
	"processidea/model/turn"
)

// newSplit is a process of n instances in parts of three.
func newSplit(t *testing.T, n int, config string) (*ideafile.Idea, *split.Process) {
	t.Helper()
	var context []string
	for i := 1; i <= n; i++ {
		context = append(context, fmt.Sprintf(`{"type": "state", "_instance": "%d", "a": %d}`, i, i))
	}
	size := `"gather": "10s"`
	if !strings.Contains(config, `"batch"`) {
		size = `"batch": 3`
	}
	i := modeltest.IdeaFrom(t, `{"config": {`+size+config+`}, "context": [{"type": "text", "text": "Go."}, `+
		strings.Join(context, ",")+`]}`)
	return i, split.New(i, quality.RequestSizeFor(i, nil), modeltest.StartTime)
}

func numbersOf(parts []split.Part) (n []int) {
	for _, p := range parts {
		n = append(n, p.Number)
	}
	return n
}

func TestAProcessIsSplitWhereItHasMoreInstancesThanItsBatch(t *testing.T) {
	t.Parallel()
	if _, p := newSplit(t, 3, ""); p != nil {
		t.Errorf("three instances are %d parts of three", len(p.Parts))
	}
	_, p := newSplit(t, 7, "")
	if len(p.Parts) != 3 || fmt.Sprint(p.Parts[2].InstanceTokens) != "[7]" || p.PartNumberOf("4") != 2 ||
		p.PartNumberOf("8") != 0 {
		t.Errorf("%+v", p.Parts)
	}
	p.AddInstances([]string{"8", "9", "10", "11"})
	if len(p.Parts) != 5 || p.PartNumberOf("11") != 5 {
		t.Errorf("more instances are %+v", p.Parts[3:])
	}
}

func TestAPartSeesWhatIsSharedAndItsOwn(t *testing.T) {
	t.Parallel()
	i, p := newSplit(t, 5, `, "limits": {"requests": 4}, "gather": "1s"`)
	got := string(jsonval.Encode(partSource(p.Parts[1], i.Source)))
	for _, want := range []string{`"Go."`, `"_instance":"4"`, `"_instance":"5"`, `"gather":"1s"`,
		`"limits":{"calls":null,"duration":null,"requests":null,"tokens":null}`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	for _, foreign := range []string{`"_instance":"1"`, `"requests":4`} {
		if strings.Contains(got, foreign) {
			t.Errorf("%s stands in %s", foreign, got)
		}
	}
}

func TestOnePartBeginsAtATimeSomeAreAtWorkAndNoneWaitsForOneThatWaitsForPeople(t *testing.T) {
	t.Parallel()
	_, p := newSplit(t, 30, "")
	for _, step := range []struct {
		what  string
		heard split.PartReport
		start string // the numbers of those that start then
	}{
		{"at first", split.PartReport{}, "[1]"},
		{"while the first begins", split.PartReport{}, "[]"},
		{"when it has begun", split.PartReport{PartNumber: 1, ReportNumber: 1, Status: loop.StatusRunning}, "[2]"},
		{"when the second has", split.PartReport{PartNumber: 2, ReportNumber: 1, Status: loop.StatusRunning}, "[3]"},
		{"when three are at work", split.PartReport{PartNumber: 3, ReportNumber: 1, Status: loop.StatusRunning}, "[]"},
		{"when one of them waits for people", split.PartReport{PartNumber: 2, ReportNumber: 2,
			Status:           loop.StatusRunning,
			AwaitsOnlyPeople: true}, "[4]"},
		{"when one has ended while another begins",
			split.PartReport{PartNumber: 3, ReportNumber: 2, Status: loop.StatusCompleted}, "[]"},
		{"when that one has ended before it told of anything",
			split.PartReport{PartNumber: 4, Status: loop.StatusFailed},
			"[5]"},
		{"when it is at work", split.PartReport{PartNumber: 5, ReportNumber: 1, Status: loop.StatusRunning}, "[6]"},
	} {
		p.ApplyReport(step.heard)
		if got := fmt.Sprint(numbersOf(startAll(p))); got != step.start {
			t.Errorf("%s %s are started, want %s", step.what, got, step.start)
		}
	}
	p.PauseReason = turn.PersonPauseFault("ann", "")
	p.ApplyReport(split.PartReport{PartNumber: 6, ReportNumber: 1, Status: loop.StatusCompleted})
	if got := p.TakePartToStart(); got != nil || fmt.Sprint(p.RunningPartNumbers()) != "[1 2 5]" {
		t.Errorf("while it is paused %v is started and %v run", got, p.RunningPartNumbers())
	}
}

func TestAsManyPartsWorkAtOnceAsTheFileSays(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]int{``: 3, `, "partsAtOnce": 1`: 1, `, "partsAtOnce": 4`: 4,
		`, "partsAtOnce": 1000`: 6} {
		_, p := newSplit(t, 18, said)
		for number := 1; ; number++ {
			if len(startAll(p)) == 0 {
				if number-1 != want {
					t.Errorf("{%s}: %d parts work at once, want %d", said, number-1, want)
				}
				break
			}
			p.ApplyReport(split.PartReport{PartNumber: number, ReportNumber: 1, Status: loop.StatusRunning})
		}
	}
}

// startAll starts parts as long as there are any to start.
func startAll(p *split.Process) (parts []split.Part) {
	for part := p.TakePartToStart(); part != nil; part = p.TakePartToStart() {
		parts = append(parts, *part)
	}
	return parts
}

func TestAPartTellsOfEndedCallsATenthAtATimeAndOfAllElseAtOnce(t *testing.T) {
	t.Parallel()
	var told split.ReportFilter
	report := split.PartReport{Status: loop.StatusRunning}
	for _, step := range []struct {
		what   string
		change func()
		news   bool
	}{
		{"its start", func() {}, true},
		{"nothing", func() {}, false},
		{"nine Calls of a hundred instances", func() { report.Calls.Done = 9 }, false},
		{"a tenth one, which failed", func() { report.Calls.Failed = 1 }, true},
		{"nine more", func() { report.Calls.Done = 18 }, false},
		{"a Request", func() { report.RequestCount = 1 }, true},
		{"a decision to be made", func() { report.PendingApprovals = []approval.PendingCall{{CallID: "1.1"}} }, true},
		{"many Calls", func() { report.Calls.Done = 500 }, true},
		{"less than a tenth of them", func() { report.Calls.Done = 549 }, false},
		{"a tenth of them", func() { report.Calls.Done = 560 }, true},
	} {
		if step.change(); told.ShouldSend(report, 100) != step.news {
			t.Errorf("%s: that it is news is not %v", step.what, step.news)
		}
	}
	var few split.ReportFilter
	few.ShouldSend(split.PartReport{Status: loop.StatusRunning}, 3)
	if !few.ShouldSend(split.PartReport{Status: loop.StatusRunning, Calls: turn.CallCounts{Done: 1}}, 3) {
		t.Error("one Call of three instances is no news")
	}
}

func TestAnOldReportIsNotTakenForALaterOne(t *testing.T) {
	t.Parallel()
	_, p := newSplit(t, 4, "")
	p.ApplyReport(split.PartReport{PartNumber: 1, ReportNumber: 3, Status: loop.StatusCompleted})
	p.ApplyReport(split.PartReport{PartNumber: 1, ReportNumber: 2, Status: loop.StatusRunning})
	p.ApplyReport(split.PartReport{PartNumber: 9, ReportNumber: 1})
	if !p.Parts[0].Report.IsFinished() || p.IsFinished() {
		t.Errorf("%+v", p.Parts)
	}
}

func TestLimitsHoldForAllPartsTogether(t *testing.T) {
	t.Parallel()
	_, p := newSplit(t, 6, `, "limits": {"requests": 5, "duration": "1h"}`)
	p.ApplyReport(split.PartReport{PartNumber: 1, RequestCount: 2})
	p.ApplyReport(split.PartReport{PartNumber: 2, RequestCount: 2})
	if f, until := p.LimitFault(modeltest.StartTime); f != nil || !until.Equal(modeltest.StartTime.Add(time.Hour)) {
		t.Errorf("%v, %s", f, until)
	}
	p.ApplyReport(split.PartReport{PartNumber: 2, ReportNumber: 1, RequestCount: 3})
	if f, _ := p.LimitFault(modeltest.StartTime); f == nil || !strings.Contains(f.Message, "5 Requests") {
		t.Errorf("%v", f)
	}
	p.Limits = p.Limits.OverriddenBy(ideafile.Limits{Requests: ideafile.NoLimit})
	if f, _ := p.LimitFault(modeltest.StartTime); f != nil {
		t.Errorf("%v", f)
	}
	p.Limits = p.Limits.OverriddenBy(ideafile.Limits{Requests: 9})
	if f, _ := p.LimitFault(modeltest.StartTime.Add(59 * time.Minute)); f != nil {
		t.Errorf("%v", f)
	}
	if f, _ := p.LimitFault(modeltest.StartTime.Add(time.Hour)); f == nil || !strings.Contains(f.Message, "1h") {
		t.Errorf("%v", f)
	}
}

func TestThePartsResultsAddUp(t *testing.T) {
	t.Parallel()
	_, p := newSplit(t, 4, "")
	unlucky := turn.Failures{}.AddFailedCall("1.1@1", ideafile.CallFailed, "pay",
		diag.Fault{Code: ideafile.CodeToolFailed, Message: "no luck"})
	p.ApplyReport(split.PartReport{PartNumber: 1, Status: loop.StatusCompleted, RequestCount: 2, IdeaCount: 3,
		Calls: turn.CallCounts{Done: 3}, Usage: turn.TokenUsage{PromptTokens: 10, CompletionTokens: 1},
		Failures: unlucky,
		StatusByInstance: map[string]ideafile.InstanceStatus{"1": ideafile.InstanceSettled, "2": ideafile.InstanceSettled,
			"3": ideafile.InstanceSettled}})
	p.ApplyReport(split.PartReport{PartNumber: 2, Status: loop.StatusFailed, RequestCount: 1,
		Calls: turn.CallCounts{Failed: 1},
		Error: diag.Faultf(turn.CodeMissingRequired, "no luck"), Failures: unlucky,
		StatusByInstance: map[string]ideafile.InstanceStatus{"4": ideafile.InstanceFailed}})
	r := p.Result("p", p.FinalStatus())
	if got := string(
		jsonval.Encode(
			jsonval.ToJSONValue(
				r))); got != `{"calls":{"blocked":0,"done":3,"failed":1,"rejected":0,"skipped":0},"error":{"code":"missing_required","message":"part 2: no luck"},`+
		`"failures":[{"calls":["1.1@1","1.1@1"],"code":"tool_failed","count":2,"message":"no luck","status":"failed","tool":"pay"}],"ideas":3,"instances":{"1":{"status":"settled"},"2":{"status":"settled"},"3":{"status":"settled"},"4":{"status":"failed"}},"output":null,`+
		`"process":"p","quality":null,"requests":3,"status":"failed","usage":{"completionTokens":1,"promptTokens":10}}` {
		t.Error(got)
	}
}

// A process with direct Plans comes to the same whether it is split or not.
func TestADirectPlanComesToTheSameInParts(t *testing.T) {
	t.Parallel()
	states := `{"type": "state", "_instance": "a", "n": 1}, {"type": "state", "_instance": "b", "n": 2}, {"type": "state", "_instance": "c", "n": 3},
		{"type": "state", "_instance": "d", "n": 4}, {"type": "state", "_instance": "e", "n": 5}, {"type": "state", "_instance": "f", "n": 6}, {"type": "state", "_instance": "g", "n": 7}`
	object := `"output": {"type": "object", "properties": {"all": {"type": "object", "minProperties": 7}, "by": {}}, "required": ["all"]}`
	double := `{"_tool": "work", "x": "†state.n", "_outputPath": "z"}`
	odd := `"when": {"properties": {"state": {"properties": {"n": {"enum": [2, 5, 6]}}}}}`
	for name, c := range map[string]struct{ schema, plans string }{
		"an output": {"", `{"type": "plan", "plan": [` + double +
			`], "output": {"all": "†state.z", "list": ["†state.z", "†input.k"]}}`},
		"no output": {"", `{"type": "plan", "plan": [` + double + `]}`},
		"a form":    {object, `{"type": "plan", "plan": [` + double + `], "output": {"all": "†state.z"}}`},
		"two Plans": {"", `{"type": "plan", ` + odd + `, "plan": [` + double +
			`], "output": {"all": "†state.z", "by": "first"}}, {"type": "plan", "plan": [` + double +
			`], "output": {"all": "†state.z", "by": "second", "one": "†state.z"}}`},
		"Plans of their own": {"", `{"type": "plan", "_instance": "g", "plan": [` + double +
			`], "output": {"g": "†state.z", "by": "g"}}, {"type": "plan", "_instance": "b", "plan": [` + double +
			`], "output": {"b": "†state.z", "by": "b"}}, {"type": "plan", "plan": [` + double +
			`], "output": {"rest": "†state.z", "by": "all"}}`},
		"instances that fail": {"",
			`{"type": "plan", ` + odd +
				`, "plan": [{"_tool": "fail", "_outputPath": "z"}], "output": {"all": "†state.z"}}, {"type": "plan", "plan": [` + double + `], "output": {"all": "†state.z"}}`},
		"what is not there": {"", `{"type": "plan", "plan": [` + double + `], "output": {"all": "†state.y"}}`},
		"what does not fit": {object, `{"type": "plan", "plan": [` + double +
			`], "output": {"all": {"1": "†state.z"}}}`},
		"a literal": {object, `{"type": "plan", "plan": [` + double +
			`], "output": {"all": {"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}}}`},
	} {
		text := `{"config": {"batch": SIZE}, "schema": {"tools": {` + modeltest.ScenarioToolsJSON + `}, ` + c.schema +
			`}, "context": [{"type": "input", "k": 9}, ` + states + `, ` + strings.ReplaceAll(c.plans, `"type": "plan"`,
			`"type": "plan", "stage": "complete"`) + `]}`
		text = strings.Replace(text, `}, }, "context"`, `}}, "context"`, 1)
		whole := directly(t, modeltest.IdeaFrom(t, strings.Replace(text, "SIZE", "100", 1)))
		for _, size := range []string{"1", "3", "6"} {
			got, want := directlyInParts(t, modeltest.IdeaFrom(t, strings.Replace(text, "SIZE", size, 1))), whole
			if (got.Error == nil) != (want.Error == nil) || (got.Error != nil && got.Error.Code != want.Error.Code) {
				t.Errorf("%s in parts of %s: %v, not %v", name, size, got.Error, want.Error)
			}
			got.Error, want.Error = nil, nil
			if a, b := string(jsonval.Encode(jsonval.ToJSONValue(got))),
				string(jsonval.Encode(jsonval.ToJSONValue(want))); a != b {
				t.Errorf("%s in parts of %s:\n%s\nnot\n%s", name, size, a, b)
			}
		}
	}
}

func directly(t *testing.T, i *ideafile.Idea) loop.ProcessResult {
	t.Helper()
	s := modeltest.NewScenarioFromIdea(t, i, false)
	s.RunDirectPlans()
	s.ExpectStep(loop.StepFinished)
	return s.Loop.Result(s.Loop.FinalStatus(), true)
}

func directlyInParts(t *testing.T, i *ideafile.Idea) loop.ProcessResult {
	t.Helper()
	p, states := split.New(i, quality.RequestSizeFor(i, nil), modeltest.StartTime), map[string]any{}
	for _, part := range p.Parts {
		p.Parts[part.Number-1].HasStarted = true
		s := modeltest.NewScenarioFromIdea(t, modeltest.IdeaFrom(t, string(jsonval.Encode(partSource(part, i.Source)))), true)
		s.RunDirectPlans()
		s.ExpectStep(loop.StepFinished)
		result := s.Loop.Result(s.Loop.FinalStatus(), true)
		r := split.PartReport{PartNumber: part.Number, ReportNumber: 1, Status: result.Status, Calls: result.Calls,
			RequestCount: result.RequestCount, Failures: result.Failures}
		r.AddOutcome(s.Loop, result.Status)
		p.ApplyReport(r)
		for token, of := range result.Instances {
			states[token] = of.State
		}
	}
	list, ask := p.OutputSource(i)
	if ask {
		t.Fatal("the LLM is asked")
	}
	if len(list) > 0 {
		out, f := loop.ResolveOutputWirings(i, list, func(token string) any { return states[token] }, nil)
		p.AcceptOutput(i, out, f)
	}
	r := p.Result("p", p.FinalStatus())
	for token, of := range r.Instances {
		of.State = states[token]
		r.Instances[token] = of
	}
	return r
}

func TestABriefThatLeavesItsStatesOutGetsThemBack(t *testing.T) {
	t.Parallel()
	known := map[string]any{"①": modeltest.DecodeJSON(t, `{"a": 1, "b": [1, 2]}`),
		"②": modeltest.DecodeJSON(t, `{"a": 1}`)}
	b := &turn.RequestInput{
		Instances: []turn.InstanceInput{{Token: "①", State: modeltest.DecodeJSON(t, `{"a": 1, "b": [1, 2, 3]}`)},
			{Token: "②", State: known["②"]}, {Token: "③", State: modeltest.DecodeJSON(t, `{"new": true}`)}}}
	before := string(jsonval.Encode(jsonval.ToJSONValue(b)))
	bare, changes := b.WithoutStates(known)
	if got := string(jsonval.Encode(changes)); got != `{"①":{"~":{"b":{"+":[3]}}},"③":{"=":{"new":true}}}` ||
		bare.Instances[0].State != nil {
		t.Errorf("it differs in %s", got)
	}
	if err := bare.RestoreStates(known, changes); err != nil ||
		string(jsonval.Encode(jsonval.ToJSONValue(bare))) != before {
		t.Errorf("%s, %v", jsonval.Encode(jsonval.ToJSONValue(bare)), err)
	}
	if err := bare.RestoreStates(nil, changes); err == nil {
		t.Error("what does not fit goes unnoticed")
	}
}

// The parts of a fork go on where the parts of the first process stood, whichever of their Calls have the same numbers.
func TestPartsOfAForkKnowWhatThePartsHadDone(t *testing.T) {
	t.Parallel()
	text := `{"config": {"batch": 2}, "schema": {"tools": {` + modeltest.ScenarioToolsJSON + `}}, "context": [{"type": "state", "_instance": "①", "a": 1}, {"type": "state", "_instance": "②", "a": 2},
		{"type": "state", "_instance": "③", "a": 3}, {"type": "state", "_instance": "④", "a": 4}, {"type": "input", "_instance": "④", "own": 1},
		{"type": "plan", "stage": "optimal", "when": {"properties": {"input": {"required": ["own"]}}, "required": ["input"]}, "plan": [{"_tool": "log"}, {"_tool": "fail"}]}]}`
	whole := modeltest.IdeaFrom(t, text)
	inParts := split.New(whole, quality.RequestSizeFor(whole, nil), modeltest.StartTime)
	input := &turn.RequestInput{ProcessID: "p"}
	var parts []*ideafile.Idea
	for n, part := range inParts.Parts {
		s := modeltest.NewScenario(t, "",
			`"context": `+string(jsonval.Encode(partSource(part, whole.Source)["context"])))
		s.RunDirectPlans()
		s.AdvanceClock(ideafile.DefaultGatherDelay)
		s.ReplyWith(
			fmt.Sprintf(
				`{"calls":[{"_tool":"work","_instance":"*","x":%d},{"_tool":"fail","_instance":"*"}],"output":null}`,
				n))
		last := modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil)
		states := map[string]any{}
		for _, i := range s.Loop.AllInstancesInput().Instances {
			states[i.Token] = i.State
		}
		input.AddPartContext(turn.DirectPlanPositionsByToken(whole.Source["context"]), last.Source["context"],
			part.InstanceTokens, states)
		parts = append(parts, last)
	}
	gathered := modeltest.SnapshotAndReparse(t, whole, input, nil, nil)
	for n, part := range split.New(gathered, quality.RequestSizeFor(gathered, nil), modeltest.StartTime).Parts {
		s := modeltest.NewScenario(t, "",
			`"context": `+string(jsonval.Encode(partSource(part, gathered.Source)["context"])))
		s.RunTool = func(tool string, _ map[string]any) (any, *diag.Fault) {
			t.Errorf("%s runs again", tool)
			return nil, nil
		}
		s.RunDirectPlans()
		again := modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil)
		if a, b := jsonval.Encode(again.Source["context"]),
			jsonval.Encode(parts[n].Source["context"]); string(a) != string(b) {
			t.Errorf("part %d begins with\n%s, and stood at\n%s", n+1, a, b)
		}
	}
	if s := string(jsonval.Encode(gathered.Source["context"])); !strings.Contains(s, `"fellBack":["④"]`) {
		t.Errorf("it is not known who went over to the LLM: %s", s)
	}
	// The same in one process: the Calls of the parts are kept apart.
	s := modeltest.NewScenario(t, "", `"context": `+string(jsonval.Encode(gathered.Source["context"])))
	for _, e := range s.Loop.AllInstancesInput().PlanEntries {
		if e.CallID == "1.1" && e.CountByStatus[ideafile.CallDone] != 2 {
			t.Errorf("%+v", e)
		}
	}
	s.WantEqual("in one process", contextOf(modeltest.SnapshotAndReparse(t, s.Idea, s.Loop.AllInstancesInput(), nil, nil)),
		contextOf(gathered))
}

func TestTheOutputOfAProcessInPartsThatHasEndedIsFinal(t *testing.T) {
	t.Parallel()
	state := `{"type": "state", "_instance": "①", "state": {}%[1]s}, {"type": "state", "_instance": "②", "state": {}, "_status": "failed"}`
	for more, want := range map[string]string{`, "_status": "settled"`: `{"summary":"z"}`, ``: `null`} {
		i := modeltest.IdeaFrom(t, `{"config": {"batch": 1}, "schema": {"output": `+modeltest.SummarySchema+`}, "solution": {"calls": [], "output": {"summary": "z"}},
			"context": [`+fmt.Sprintf(state, more)+`]}`)
		p := split.New(i, quality.RequestSizeFor(i, nil), modeltest.StartTime)
		if got := string(jsonval.Encode(p.OwnReport.Output)); got != want {
			t.Errorf("%s: %s", more, got)
		}
		if solution := partSource(p.Parts[0], i.Source)["solution"]; string(jsonval.Encode(solution)) != `{"calls":[]}` {
			t.Errorf("a part takes it for its own: %v", solution)
		}
	}
}

func TestAPartThatPausesByItselfPausesTheWholeOnceForEachPause(t *testing.T) {
	t.Parallel()
	_, p := newSplit(t, 6, "")
	paused := split.PartReport{PartNumber: 2, ReportNumber: 1, Status: loop.StatusPaused,
		Error: diag.Faultf(turn.CodeNoProgress, "in vain"), AutomaticPauseCount: 1}
	p.ApplyReport(paused)
	if p.PauseReason == nil || p.PauseReason.Error() != "no_progress: part 2: in vain" {
		t.Fatalf("%v", p.PauseReason)
	}
	p.PauseReason = nil // a person has resumed it
	paused.ReportNumber = 2
	p.ApplyReport(paused)
	if p.PauseReason != nil {
		t.Errorf("a report of the pause that is over: %v", p.PauseReason)
	}
	paused.ReportNumber, paused.AutomaticPauseCount = 3, 2
	p.ApplyReport(paused)
	if p.PauseReason == nil {
		t.Error("it has paused again")
	}
	p.PauseReason, p.Parts[1].HasStarted = nil, true
	p.TakePartsToResume()
	paused.ReportNumber, paused.AutomaticPauseCount = 4, 3
	p.ApplyReport(paused)
	if p.PauseReason != nil {
		t.Errorf("what the part reported before it heard that it goes on: %v", p.PauseReason)
	}
	paused.ReportNumber, paused.AutomaticPauseCount, paused.ResumeCount = 5, 4, 1
	p.ApplyReport(paused)
	if p.PauseReason == nil {
		t.Error("it has paused after that")
	}
	p.PauseReason = nil
	p.ApplyReport(split.PartReport{PartNumber: 1, ReportNumber: 1, Status: loop.StatusPaused,
		Error: turn.PersonPauseFault("ann", "")})
	if p.PauseReason != nil {
		t.Errorf("a person has paused the part alone: %v", p.PauseReason)
	}
}

func TestThePartsShareTheLimitsThatHoldByDefault(t *testing.T) {
	t.Parallel()
	_, p := newSplit(t, 6, "") // two parts
	for requests, want := range map[int]bool{2*ideafile.DefaultRequestLimit - 1: false,
		2 * ideafile.DefaultRequestLimit: true} {
		p.ApplyReport(split.PartReport{PartNumber: 1, RequestCount: requests})
		if f, _ := p.LimitFault(modeltest.StartTime); (f != nil) != want {
			t.Errorf("after %d: %v", requests, f)
		}
	}
}

// Why a person must review a Call goes with its instance from a part to the whole, and to a part again.
func TestPartsOfAForkKnowWhyAPersonMustReviewACall(t *testing.T) {
	t.Parallel()
	input := &turn.RequestInput{}
	for _, token := range []string{"①", "②"} {
		part := modeltest.IdeaFrom(t, `{"schema": {"tools": {`+modeltest.ScenarioToolsJSON+`}}, "context": [{"type": "state", "_instance": "`+token+`", "state": {}},
			{"type": "plan", "plan": [{"_tool": "log", "_instance": "*"}], "record": {"1.1": {"waiting": ["`+token+`"], "review": {"`+token+`": "two answers for `+token+`"}}}}]}`)
		input.AddPartContext(turn.DirectPlanPositionsByToken(part.Source["context"]), part.Source["context"],
			[]string{token}, nil)
	}
	whole := turn.SnapshotIdea(jsonval.Object{}, input, nil, nil)["context"].([]any)
	plan := whole[len(whole)-1]
	for _, token := range []string{"①", "②"} {
		part, _ := turn.FilterPlanRecord(plan, []string{token})
		got := string(jsonval.Encode(jsonval.Lookup(part, "record", "1.1")))
		if want := `{"review":{"` + token + `":"two answers for ` + token + `"},"waiting":["` + token + `"]}`; got != want {
			t.Errorf("the part with %s has %s, not %s", token, got, want)
		}
	}
}

// partSource is the Idea of a part, made as a workflow makes it.
func partSource(part split.Part, whole jsonval.Object) jsonval.Object {
	return part.IdeaSource(whole, split.NewMessageIndex(jsonval.AsList(whole["context"])))
}
