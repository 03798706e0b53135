package model

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// split is a process of n instances in parts of three.
func split(t *testing.T, n int, config string) (*Idea, *Parts) {
	t.Helper()
	var context []string
	for i := 1; i <= n; i++ {
		context = append(context, fmt.Sprintf(`{"type": "state", "_instance": "%d", "a": %d}`, i, i))
	}
	i := ideaOf(t, `{"config": {"batch": 3`+config+`}, "context": [{"type": "text", "text": "Go."}, `+strings.Join(context, ",")+`]}`)
	return i, Split(i, began)
}

func numbersOf(parts []Part) (n []int) {
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
	if len(p.List) != 3 || fmt.Sprint(p.List[2].Tokens) != "[7]" || p.Of("4") != 2 || p.Of("8") != 0 {
		t.Errorf("%+v", p.List)
	}
	p.Add([]string{"8", "9", "10", "11"})
	if len(p.List) != 5 || p.Of("11") != 5 {
		t.Errorf("more instances are %+v", p.List[3:])
	}
}

func TestAPartSeesWhatIsSharedAndItsOwn(t *testing.T) {
	i, p := split(t, 5, `, "limits": {"requests": 4}, "gather": "1s"`)
	got := string(Encode(p.List[1].Source(i.Source)))
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
		heard PartReport
		start string // the numbers of those that start then
	}{
		{"at first", PartReport{}, "[1]"},
		{"while the first begins", PartReport{}, "[]"},
		{"when it has begun", PartReport{Number: 1, Seq: 1, Status: StatusRunning}, "[2]"},
		{"when the second has", PartReport{Number: 2, Seq: 1, Status: StatusRunning}, "[3]"},
		{"when three are at work", PartReport{Number: 3, Seq: 1, Status: StatusRunning}, "[]"},
		{"when one of them waits for people", PartReport{Number: 2, Seq: 2, Status: StatusRunning, Waits: true}, "[4]"},
		{"when one has ended while another begins", PartReport{Number: 3, Seq: 2, Status: StatusCompleted}, "[]"},
		{"when that one has ended before it told of anything", PartReport{Number: 4, Status: StatusFailed}, "[5]"},
		{"when it is at work", PartReport{Number: 5, Seq: 1, Status: StatusRunning}, "[6]"},
	} {
		p.Heard(step.heard)
		if got := fmt.Sprint(numbersOf(p.startAll())); got != step.start {
			t.Errorf("%s %s are started, want %s", step.what, got, step.start)
		}
	}
	p.Paused = PausedBy("ann", "")
	p.Heard(PartReport{Number: 6, Seq: 1, Status: StatusCompleted})
	if got := p.Start(); got != nil || fmt.Sprint(p.Running()) != "[1 2 5]" {
		t.Errorf("while it is paused %v is started and %v run", got, p.Running())
	}
}

// startAll starts parts as long as there are any to start.
func (p *Parts) startAll() (parts []Part) {
	for part := p.Start(); part != nil; part = p.Start() {
		parts = append(parts, *part)
	}
	return parts
}

func TestAPartTellsOfEndedCallsATenthAtATimeAndOfAllElseAtOnce(t *testing.T) {
	var told Told
	report := PartReport{Status: StatusRunning}
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
		{"a decision to be made", func() { report.Pending = []Pending{{Call: "1.1"}} }, true},
		{"many Calls", func() { report.Calls.Done = 500 }, true},
		{"less than a tenth of them", func() { report.Calls.Done = 549 }, false},
		{"a tenth of them", func() { report.Calls.Done = 560 }, true},
	} {
		if step.change(); told.News(report, 100) != step.news {
			t.Errorf("%s: that it is news is not %v", step.what, step.news)
		}
	}
	var few Told
	few.News(PartReport{Status: StatusRunning}, 3)
	if !few.News(PartReport{Status: StatusRunning, Calls: Counts{Done: 1}}, 3) {
		t.Error("one Call of three instances is no news")
	}
}

func TestAnOldReportIsNotTakenForALaterOne(t *testing.T) {
	_, p := split(t, 4, "")
	p.Heard(PartReport{Number: 1, Seq: 3, Status: StatusCompleted})
	p.Heard(PartReport{Number: 1, Seq: 2, Status: StatusRunning})
	p.Heard(PartReport{Number: 9, Seq: 1})
	if !p.List[0].Report.Over() || p.Over() {
		t.Errorf("%+v", p.List)
	}
}

func TestLimitsHoldForAllPartsTogether(t *testing.T) {
	_, p := split(t, 6, `, "limits": {"requests": 5, "duration": "1h"}`)
	p.Heard(PartReport{Number: 1, Requests: 2})
	p.Heard(PartReport{Number: 2, Requests: 2})
	if f, until := p.Limit(began); f != nil || !until.Equal(began.Add(time.Hour)) {
		t.Errorf("%v, %s", f, until)
	}
	p.Heard(PartReport{Number: 2, Seq: 1, Requests: 3})
	if f, _ := p.Limit(began); f == nil || !strings.Contains(f.Message, "5 Requests") {
		t.Errorf("%v", f)
	}
	p.Limits = p.Limits.With(Limits{Requests: 9})
	if f, _ := p.Limit(began.Add(59 * time.Minute)); f != nil {
		t.Errorf("%v", f)
	}
	if f, _ := p.Limit(began.Add(time.Hour)); f == nil || !strings.Contains(f.Message, "1h") {
		t.Errorf("%v", f)
	}
}

func TestThePartsResultsAddUp(t *testing.T) {
	_, p := split(t, 4, "")
	p.Heard(PartReport{Number: 1, Status: StatusCompleted, Requests: 2, Ideas: 3, Calls: Counts{Done: 3}, Usage: Usage{10, 1},
		Instances: map[string]InstanceStatus{"1": InstanceSettled, "2": InstanceSettled, "3": InstanceSettled}})
	p.Heard(PartReport{Number: 2, Status: StatusFailed, Requests: 1, Calls: Counts{Failed: 1}, Error: fault(CodeMissing, "no luck"),
		Instances: map[string]InstanceStatus{"4": InstanceFailed}})
	r := p.Result("p", p.Outcome())
	if got := string(Encode(Normal(r))); got != `{"calls":{"blocked":0,"done":3,"failed":1,"rejected":0,"skipped":0},"error":{"code":"missing_required","message":"part 2: no luck"},`+
		`"ideas":3,"instances":{"1":{"status":"settled"},"2":{"status":"settled"},"3":{"status":"settled"},"4":{"status":"failed"}},"output":null,`+
		`"process":"p","requests":3,"status":"failed","usage":{"completionTokens":1,"promptTokens":10}}` {
		t.Error(got)
	}
}

func TestAnOutputThatDoesNotFitIsAskedForThreeTimes(t *testing.T) {
	i := ideaOf(t, `{"config": {"batch": 1}, "schema": {"output": {"type": "object"}}, "context": [{"type": "state", "_instance": "1"}, {"type": "state", "_instance": "2"}]}`)
	p := Split(i, began)
	for n := 1; n <= 3; n++ {
		if p.Paused != nil {
			t.Fatalf("it is paused after %d", n-1)
		}
		p.Answered(i, Reply{Whole: true, OutputFault: fault(CodeBadOutput, "no object")})
	}
	if p.Paused == nil || p.Extra.Requests != 3 || p.Turn() != 4 {
		t.Errorf("%+v, turn %d", p.Extra, p.Turn())
	}
	p.Paused = nil
	p.Answered(i, Reply{Whole: true, Output: map[string]any{}})
	if p.Extra.Output == nil || p.Paused != nil {
		t.Errorf("%+v", p.Extra)
	}
}

func TestABriefThatLeavesItsStatesOutGetsThemBack(t *testing.T) {
	known := map[string]any{"①": value(t, `{"a": 1, "b": [1, 2]}`), "②": value(t, `{"a": 1}`)}
	b := &Brief{Covered: []Covered{{Token: "①", State: value(t, `{"a": 1, "b": [1, 2, 3]}`)}, {Token: "②", State: known["②"]}, {Token: "③", State: value(t, `{"new": true}`)}}}
	before := string(Encode(Normal(b)))
	bare, changes := b.Since(known)
	if got := string(Encode(changes)); got != `{"①":{"~":{"b":{"+":[3]}}},"③":{"=":{"new":true}}}` || bare.Covered[0].State != nil {
		t.Errorf("it differs in %s", got)
	}
	if err := bare.Over(known, changes); err != nil || string(Encode(Normal(bare))) != before {
		t.Errorf("%s, %v", Encode(Normal(bare)), err)
	}
	if err := bare.Over(nil, changes); err == nil {
		t.Error("what does not fit goes unnoticed")
	}
}
