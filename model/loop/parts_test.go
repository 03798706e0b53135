package loop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// split is a process of n instances in parts of three.
func split(t *testing.T, n int, config string) (*ideafile.Idea, *loop.Parts) {
	t.Helper()
	var context []string
	for i := 1; i <= n; i++ {
		context = append(context, fmt.Sprintf(`{"type": "state", "_instance": "%d", "a": %d}`, i, i))
	}
	i := modeltest.IdeaFrom(t, `{"config": {"batch": 3`+config+`}, "context": [{"type": "text", "text": "Go."}, `+strings.Join(context, ",")+`]}`)
	return i, loop.Split(i, modeltest.StartTime)
}

func numbersOf(parts []loop.Part) (n []int) {
	for _, p := range parts {
		n = append(n, p.Number)
	}
	return n
}

func TestAProcessIsSplitWhereItHasMoreInstancesThanItsBatch(t *testing.T) {
	if _, p := split(t, 3, ""); p != nil {
		t.Errorf("three instances are %d parts of three", len(p.List))
	}
	_, p := split(t, 7, "")
	if len(p.List) != 3 || fmt.Sprint(p.List[2].Tokens) != "[7]" || p.PartOf("4") != 2 || p.PartOf("8") != 0 {
		t.Errorf("%+v", p.List)
	}
	p.AddInstances([]string{"8", "9", "10", "11"})
	if len(p.List) != 5 || p.PartOf("11") != 5 {
		t.Errorf("more instances are %+v", p.List[3:])
	}
}

func TestAPartSeesWhatIsSharedAndItsOwn(t *testing.T) {
	i, p := split(t, 5, `, "limits": {"requests": 4}, "gather": "1s"`)
	got := string(jsonval.Encode(p.List[1].IdeaSource(i.Source)))
	for _, want := range []string{`"Go."`, `"_instance":"4"`, `"_instance":"5"`, `"gather":"1s"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	for _, foreign := range []string{`"_instance":"1"`, `"limits"`} {
		if strings.Contains(got, foreign) {
			t.Errorf("%s stands in %s", foreign, got)
		}
	}
}

func TestOnePartBeginsAtATimeSomeAreAtWorkAndNoneWaitsForOneThatWaitsForPeople(t *testing.T) {
	_, p := split(t, 30, "")
	for _, step := range []struct {
		what  string
		heard loop.PartReport
		start string // the numbers of those that start then
	}{
		{"at first", loop.PartReport{}, "[1]"},
		{"while the first begins", loop.PartReport{}, "[]"},
		{"when it has begun", loop.PartReport{Number: 1, Sequence: 1, Status: loop.StatusRunning}, "[2]"},
		{"when the second has", loop.PartReport{Number: 2, Sequence: 1, Status: loop.StatusRunning}, "[3]"},
		{"when three are at work", loop.PartReport{Number: 3, Sequence: 1, Status: loop.StatusRunning}, "[]"},
		{"when one of them waits for people", loop.PartReport{Number: 2, Sequence: 2, Status: loop.StatusRunning, AwaitsOnlyPeople: true}, "[4]"},
		{"when one has ended while another begins", loop.PartReport{Number: 3, Sequence: 2, Status: loop.StatusCompleted}, "[]"},
		{"when that one has ended before it told of anything", loop.PartReport{Number: 4, Status: loop.StatusFailed}, "[5]"},
		{"when it is at work", loop.PartReport{Number: 5, Sequence: 1, Status: loop.StatusRunning}, "[6]"},
	} {
		p.ApplyReport(step.heard)
		if got := fmt.Sprint(numbersOf(startAll(p))); got != step.start {
			t.Errorf("%s %s are started, want %s", step.what, got, step.start)
		}
	}
	p.Paused = loop.PauseFault("ann", "")
	p.ApplyReport(loop.PartReport{Number: 6, Sequence: 1, Status: loop.StatusCompleted})
	if got := p.StartNext(); got != nil || fmt.Sprint(p.RunningParts()) != "[1 2 5]" {
		t.Errorf("while it is paused %v is started and %v run", got, p.RunningParts())
	}
}

// startAll starts parts as long as there are any to start.
func startAll(p *loop.Parts) (parts []loop.Part) {
	for part := p.StartNext(); part != nil; part = p.StartNext() {
		parts = append(parts, *part)
	}
	return parts
}

func TestAPartTellsOfEndedCallsATenthAtATimeAndOfAllElseAtOnce(t *testing.T) {
	var told loop.ReportFilter
	report := loop.PartReport{Status: loop.StatusRunning}
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
		{"a Request", func() { report.Requests = 1 }, true},
		{"a decision to be made", func() { report.Pending = []turn.PendingApproval{{Call: "1.1"}} }, true},
		{"many Calls", func() { report.Calls.Done = 500 }, true},
		{"less than a tenth of them", func() { report.Calls.Done = 549 }, false},
		{"a tenth of them", func() { report.Calls.Done = 560 }, true},
	} {
		if step.change(); told.ShouldSend(report, 100) != step.news {
			t.Errorf("%s: that it is news is not %v", step.what, step.news)
		}
	}
	var few loop.ReportFilter
	few.ShouldSend(loop.PartReport{Status: loop.StatusRunning}, 3)
	if !few.ShouldSend(loop.PartReport{Status: loop.StatusRunning, Calls: turn.CallCounts{Done: 1}}, 3) {
		t.Error("one Call of three instances is no news")
	}
}

func TestAnOldReportIsNotTakenForALaterOne(t *testing.T) {
	_, p := split(t, 4, "")
	p.ApplyReport(loop.PartReport{Number: 1, Sequence: 3, Status: loop.StatusCompleted})
	p.ApplyReport(loop.PartReport{Number: 1, Sequence: 2, Status: loop.StatusRunning})
	p.ApplyReport(loop.PartReport{Number: 9, Sequence: 1})
	if !p.List[0].Report.Finished() || p.Finished() {
		t.Errorf("%+v", p.List)
	}
}

func TestLimitsHoldForAllPartsTogether(t *testing.T) {
	_, p := split(t, 6, `, "limits": {"requests": 5, "duration": "1h"}`)
	p.ApplyReport(loop.PartReport{Number: 1, Requests: 2})
	p.ApplyReport(loop.PartReport{Number: 2, Requests: 2})
	if f, until := p.ReachedLimit(modeltest.StartTime); f != nil || !until.Equal(modeltest.StartTime.Add(time.Hour)) {
		t.Errorf("%v, %s", f, until)
	}
	p.ApplyReport(loop.PartReport{Number: 2, Sequence: 1, Requests: 3})
	if f, _ := p.ReachedLimit(modeltest.StartTime); f == nil || !strings.Contains(f.Message, "5 Requests") {
		t.Errorf("%v", f)
	}
	p.Limits = p.Limits.Override(ideafile.Limits{Requests: 9})
	if f, _ := p.ReachedLimit(modeltest.StartTime.Add(59 * time.Minute)); f != nil {
		t.Errorf("%v", f)
	}
	if f, _ := p.ReachedLimit(modeltest.StartTime.Add(time.Hour)); f == nil || !strings.Contains(f.Message, "1h") {
		t.Errorf("%v", f)
	}
}

func TestThePartsResultsAddUp(t *testing.T) {
	_, p := split(t, 4, "")
	p.ApplyReport(loop.PartReport{Number: 1, Status: loop.StatusCompleted, Requests: 2, Ideas: 3, Calls: turn.CallCounts{Done: 3}, Usage: turn.Usage{PromptTokens: 10, CompletionTokens: 1},
		Instances: map[string]ideafile.InstanceStatus{"1": ideafile.InstanceSettled, "2": ideafile.InstanceSettled, "3": ideafile.InstanceSettled}})
	p.ApplyReport(loop.PartReport{Number: 2, Status: loop.StatusFailed, Requests: 1, Calls: turn.CallCounts{Failed: 1}, Error: diag.Faultf(turn.CodeMissingRequired, "no luck"),
		Instances: map[string]ideafile.InstanceStatus{"4": ideafile.InstanceFailed}})
	r := p.Result("p", p.FinalStatus())
	if got := string(jsonval.Encode(jsonval.Normal(r))); got != `{"calls":{"blocked":0,"done":3,"failed":1,"rejected":0,"skipped":0},"error":{"code":"missing_required","message":"part 2: no luck"},`+
		`"ideas":3,"instances":{"1":{"status":"settled"},"2":{"status":"settled"},"3":{"status":"settled"},"4":{"status":"failed"}},"output":null,`+
		`"process":"p","requests":3,"status":"failed","usage":{"completionTokens":1,"promptTokens":10}}` {
		t.Error(got)
	}
}

func TestAnOutputThatDoesNotFitIsAskedForThreeTimes(t *testing.T) {
	i := modeltest.IdeaFrom(t, `{"config": {"batch": 1}, "schema": {"output": {"type": "object"}}, "context": [{"type": "state", "_instance": "1"}, {"type": "state", "_instance": "2"}]}`)
	p := loop.Split(i, modeltest.StartTime)
	for n := 1; n <= 3; n++ {
		if p.Paused != nil {
			t.Fatalf("it is paused after %d", n-1)
		}
		p.ApplyOutputReply(i, turn.Reply{Complete: true, OutputFault: diag.Faultf(ideafile.CodeBadOutput, "no object")})
	}
	if p.Paused == nil || p.Own.Requests != 3 || p.NextTurn() != 4 {
		t.Errorf("%+v, turn %d", p.Own, p.NextTurn())
	}
	p.Paused = nil
	p.ApplyOutputReply(i, turn.Reply{Complete: true, Output: map[string]any{}})
	if p.Own.Output == nil || p.Paused != nil {
		t.Errorf("%+v", p.Own)
	}
}

func TestABriefThatLeavesItsStatesOutGetsThemBack(t *testing.T) {
	known := map[string]any{"①": modeltest.DecodeJSON(t, `{"a": 1, "b": [1, 2]}`), "②": modeltest.DecodeJSON(t, `{"a": 1}`)}
	b := &turn.RequestInput{Instances: []turn.InstanceInput{{Token: "①", State: modeltest.DecodeJSON(t, `{"a": 1, "b": [1, 2, 3]}`)}, {Token: "②", State: known["②"]}, {Token: "③", State: modeltest.DecodeJSON(t, `{"new": true}`)}}}
	before := string(jsonval.Encode(jsonval.Normal(b)))
	bare, changes := b.WithoutStates(known)
	if got := string(jsonval.Encode(changes)); got != `{"①":{"~":{"b":{"+":[3]}}},"③":{"=":{"new":true}}}` || bare.Instances[0].State != nil {
		t.Errorf("it differs in %s", got)
	}
	if err := bare.RestoreStates(known, changes); err != nil || string(jsonval.Encode(jsonval.Normal(bare))) != before {
		t.Errorf("%s, %v", jsonval.Encode(jsonval.Normal(bare)), err)
	}
	if err := bare.RestoreStates(nil, changes); err == nil {
		t.Error("what does not fit goes unnoticed")
	}
}
