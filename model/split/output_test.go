package split_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
	"processidea/model/quality"
	"processidea/model/split"
	"processidea/model/turn"
)

// ended are parts whose instances have all settled, with what each reports beside that.
func ended(t *testing.T, idea string, reports ...split.PartReport) (*ideafile.Idea, *split.Process) {
	t.Helper()
	i := modeltest.IdeaFrom(t, idea)
	p := split.New(i, quality.RequestSizeFor(i, nil), modeltest.StartTime)
	for n, r := range reports {
		startAll(p)
		r.PartNumber, r.ReportNumber, r.StatusByInstance = n+1, 1, map[string]ideafile.InstanceStatus{}
		r.Status = cmp.Or(r.Status, loop.StatusCompleted)
		for _, token := range p.Parts[n].InstanceTokens {
			r.StatusByInstance[token] = ideafile.InstanceSettled
		}
		p.ApplyReport(r)
	}
	return i, p
}

const twoParts = `{"config": {"batch": 1}, "schema": {"output": {"type": "object", "properties": {"all": {"type": "object"}}, "required": ["all"]}},
	"context": [{"type": "state", "_instance": "1", "z": 1}, {"type": "state", "_instance": "2", "z": 2}]}`

// A bad output over all parts is told and counted as it is in a process that is not split.
func TestAnOutputOverAllPartsThatIsNoGoodIsToldAndAskedForThreeTimes(t *testing.T) {
	t.Parallel()
	states := map[string]any{"1": map[string]any{"z": 1}, "2": map[string]any{"z": 2}}
	for name, c := range map[string]struct {
		reply turn.LLMReply
		told  string
	}{
		"does not fit": {turn.LLMReply{IsComplete: true, Output: 5,
			OutputFault: diag.Faultf(ideafile.CodeBadOutput, "no object")}, "no object"},
		"is missing":        {turn.LLMReply{IsComplete: true}, "the output form wants one"},
		"breaks off":        {turn.LLMReply{Fault: diag.Faultf(turn.CodeTruncated, "cut off")}, "cut off"},
		"reads what is not": {turn.LLMReply{IsComplete: true, Output: map[string]any{"all": "†state.y"}}, "†state.y"},
		"resolves to no form": {turn.LLMReply{IsComplete: true, Output: map[string]any{"all": "†input"}},
			"does not fit its form"},
	} {
		i, p := ended(t, strings.Replace(twoParts, `"context": [`, `"context": [{"type": "input", "input": "text"},`,
			1), split.PartReport{}, split.PartReport{})
		ask := func() {
			t.Helper()
			if _, ask := p.OutputSource(i); !ask {
				t.Fatalf("%s: nobody is asked", name)
			}
			p.ApplyOutputReply(i, c.reply)
			if list, ask := p.OutputSource(i); !ask {
				out, f := loop.ResolveOutputWirings(i, list, func(token string) any { return states[token] }, nil)
				p.AcceptOutput(i, out, f)
			}
		}
		for n := 1; n <= 3; n++ {
			if p.PauseReason != nil {
				t.Fatalf("%s: it is paused after %d", name, n-1)
			}
			ask()
			if len(p.OutputErrors) != 1 || !strings.Contains(p.OutputErrors[0].Fault.Message, c.told) {
				t.Errorf("%s: the next Request is told %+v", name, p.OutputErrors)
			}
		}
		if p.PauseReason == nil || p.PauseReason.Code != turn.CodeBadOutputs || p.OwnReport.RequestCount != 3 ||
			p.NextOutputTurnNumber() != 4 {
			t.Errorf("%s: %+v, %v, turn %d", name, p.OwnReport, p.PauseReason, p.NextOutputTurnNumber())
		}
		p.PauseReason = nil
		c.reply = turn.LLMReply{IsComplete: true, Output: map[string]any{"all": "†state.z"}}
		ask()
		if got := string(jsonval.Encode(p.OwnReport.Output)); got != `{"all":{"1":1,"2":2}}` || p.PauseReason != nil ||
			len(p.OutputErrors) > 0 {
			t.Errorf("%s: then it is %s", name, got)
		}
	}
}

func TestARequestForTheOutputThatIsLostWithItsWorkerIsNoBadOutput(t *testing.T) {
	t.Parallel()
	i, p := ended(t, twoParts, split.PartReport{}, split.PartReport{})
	for n := 1; n < 10; n++ {
		p.ApplyOutputReply(i, turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "lost")})
		if p.PauseReason != nil {
			t.Fatalf("it is paused after %d: %s", n, p.PauseReason)
		}
	}
	p.ApplyOutputReply(i, turn.LLMReply{IsWorkerLost: true, Fault: diag.Faultf(turn.CodeWorkerLost, "lost")})
	if p.PauseReason == nil || p.NextOutputTurnNumber() != 1 {
		t.Errorf("%v, turn %d", p.PauseReason, p.NextOutputTurnNumber())
	}
}

func TestWhatRepliesWiredAlikeInAllPartsIsResolvedOverAllWithoutAsking(t *testing.T) {
	t.Parallel()
	wired := split.PartReport{Output: map[string]any{"all": map[string]any{"?": 0}},
		WrittenReferenceOutput: map[string]any{"all": "†state.z"}}
	other := wired
	other.WrittenReferenceOutput = map[string]any{"all": "†state.y"}
	i, p := ended(t, twoParts, wired, wired)
	if list, ask := p.OutputSource(i); ask || fmt.Sprint(list) != "[{map[all:†state.z] [1 2] 0}]" {
		t.Errorf("%v, asked: %v", list, ask)
	}
	for name, different := range map[string]split.PartReport{"in another way": other,
		"in words": {Output: wired.Output}} {
		i, p := ended(t, twoParts, wired, different)
		if list, ask := p.OutputSource(i); !ask {
			t.Errorf("%s: nobody is asked, %v", name, list)
		}
	}
}

func TestTheWholeCountsTheRejectedCallsOfEachInstance(t *testing.T) {
	t.Parallel()
	_, p := newSplit(t, 4, "")
	p.Parts[0].HasStarted = true
	p.ApplyReport(split.PartReport{PartNumber: 1, ReportNumber: 1, Status: loop.StatusCompleted,
		StatusByInstance:            map[string]ideafile.InstanceStatus{"1": ideafile.InstanceSettled},
		RejectedCallCountByInstance: map[string]int{"1": 2}})
	if got := p.Result("p", loop.StatusRunning).Instances; got["1"].Standing() != "settled, 2 Calls rejected" ||
		got["2"].RejectedCallCount != 0 {
		t.Errorf("%+v", got)
	}
}
