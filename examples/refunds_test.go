package examples_test

import (
	"strings"
	"testing"

	"processidea/client/ideafiles"
	"processidea/internal/rehearsal"
	"processidea/learn/ripen"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// tally counts the instances of a result by status.
func tally(r loop.ProcessResult) map[ideafile.InstanceStatus]int {
	n := map[ideafile.InstanceStatus]int{}
	for _, i := range r.Instances {
		n[i.Status]++
	}
	return n
}

func TestElevenRefundsWaitAndTheOthersSettleWithoutThem(t *testing.T) {
	p := begin(t, "refunds")
	r := p.through()
	if n := tally(r); n[ideafile.InstanceSettled] != 189 || n[ideafile.InstanceWaiting] != 11 || r.RequestCount != 1 ||
		r.Calls != (turn.CallCounts{Done: 389}) {
		t.Errorf("%v after %d Requests, %+v", n, r.RequestCount, r.Calls)
	}
	p.person = func(what approval.PendingCall) approval.Decision {
		cents, _ := jsonval.ValueAt(what.Params, jsonval.Path{"values", "cents"})
		if string(jsonval.Encode(cents)) == "229900" {
			return approval.Decision{Kind: policy.Reject, CallID: what.CallID, ApprovalDigest: what.Digest,
				DecidedBy: "ann", Reason: "too dear"}
		}
		return approval.Decision{Kind: policy.Approve, CallID: what.CallID, ApprovalDigest: what.Digest,
			DecidedBy: "ann"}
	}
	r = p.through()
	if r.Status != loop.StatusCompleted || r.RequestCount != 2 || r.Calls != (turn.CallCounts{Done: 400, Rejected: 3}) {
		t.Errorf("%s after %d Requests, %+v", r.Status, r.RequestCount, r.Calls)
	}
	f := ripen.AnalyzeRuns(
		[]ripen.ProcessRun{{ProcessID: "refunds", Tools: p.idea.Tools,
			Log: append(p.log, p.mind.TakeUnsealedLog()...)}})
	if len(f) != 1 || f[0].Counts != (ripen.DecisionCounts{Approved: 8, Rejected: 3}) ||
		f[0].ProposedCondition == nil ||
		f[0].WouldAskCount != 3+len(f[0].NeedlesslyAskedCalls) || f[0].WouldAskCount+f[0].WouldNotAskCount != 11 {
		t.Errorf("of what ann decided it says %s", jsonval.Encode(jsonval.ToJSONValue(f)))
	}
	apologies := 0
	for _, i := range r.Instances {
		letter, _ := i.State.(map[string]any)["letter"].(string)
		if strings.Contains(letter, "voucher") {
			apologies++
		}
	}
	if apologies != 3 {
		t.Errorf("%d apologies", apologies)
	}
}

func TestTheLLMMendsTheStepOfThePolicyThatItBrokeAtFirst(t *testing.T) {
	d, problems, err := ideafiles.LoadIdea(ideafiles.Source{IdeaPath: "refunds/by-policy.json"})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	replies, err := rehearsal.Parse(read(t, "refunds", "by-policy.replies.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range replies {
		replies[i].TTFT, replies[i].TPS = 0, 0
	}
	r := start(t, d.ParsedIdea, replies, "").through()
	if n := tally(r); r.RequestCount != 2 || n[ideafile.InstanceSettled] != 4 || r.Calls != (turn.CallCounts{Done: 9}) {
		t.Errorf("%v after %d Requests, %+v", n, r.RequestCount, r.Calls)
	}
	var steps []string
	for _, c := range r.InstructionStepCounts {
		steps = append(steps, strings.TrimPrefix(c.String(), "step "))
	}
	of := " of refund-policy.json (version 1): "
	want := []string{"assess" + of + "fulfilled in 4", "as-assessed" + of + "fulfilled in 4", "once" + of + "fulfilled in 4",
		"letter" + of + "fulfilled in 4", "accounts" + of + "fulfilled in 1, did not apply in 3"}
	if got := strings.Join(steps, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
}
