package examples_test

import (
	"strings"
	"testing"

	"processidea/model"
)

// tally counts the instances of a result by status.
func tally(r model.Result) map[model.InstanceStatus]int {
	n := map[model.InstanceStatus]int{}
	for _, i := range r.Instances {
		n[i.Status]++
	}
	return n
}

func TestElevenRefundsWaitAndTheOthersSettleWithoutThem(t *testing.T) {
	p := begin(t, "refunds")
	r := p.through()
	if n := tally(r); n[model.InstanceSettled] != 189 || n[model.InstanceWaiting] != 11 || r.Requests != 2 || r.Calls != (model.Counts{Done: 389}) {
		t.Errorf("%v after %d Requests, %+v", n, r.Requests, r.Calls)
	}
	p.person = func(what model.Pending) model.Decision {
		cents, _ := model.Lookup(what.Params, model.Path{"values", "cents"})
		if string(model.Encode(cents)) == "229900" {
			return model.Decision{Decision: model.Reject, Call: what.Call, Digest: what.Digest, By: "ann", Reason: "too dear"}
		}
		return model.Decision{Decision: model.Approve, Call: what.Call, Digest: what.Digest, By: "ann"}
	}
	r = p.through()
	if r.Status != model.StatusCompleted || r.Requests != 4 || r.Calls != (model.Counts{Done: 400, Rejected: 3, Skipped: 8}) {
		t.Errorf("%s after %d Requests, %+v", r.Status, r.Requests, r.Calls)
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
