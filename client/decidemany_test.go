package client

import (
	"context"
	"errors"
	"strings"
	"testing"

	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
)

func TestWhatManyDecisionsHaveInCommonIsSaidOnceAndNothingIsTakenOver(t *testing.T) {
	t.Parallel()
	list := []Decision{
		{Kind: Approve, CallID: "1.1@①", ApprovalDigest: "ab", By: "ann", Groups: []string{"finance"}, Reason: "fine"},
		{Kind: Approve, CallID: "1.1@②", By: "ann", Groups: []string{"finance"}, Reason: "fine"},
		{Kind: Reject, CallID: "1.1@③", By: "bob", Reason: "no", Proof: "p"},
		{Kind: Answer, CallID: "1.1@④", Value: nil},
	}
	payload := batchPayload(list)
	want :=
		`{"by":"ann","decisions":[{"call":"1.1@①","decision":"approve","digest":"ab"},{"call":"1.1@②","decision":"approve"},` +
			`{"by":"bob","call":"1.1@③","decision":"reject","groups":[],"proof":"p","reason":"no"},` +
			`{"by":"","call":"1.1@④","decision":"answer","groups":[],"output":null,"reason":""}],"groups":["finance"],"reason":"fine"}`
	if got := string(jsonval.Encode(payload)); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	many, err := approval.ReadDecisionBatch(payload)
	if err != nil {
		t.Fatal(err)
	}
	for n, d := range list {
		got := many.Decisions[n]
		if got.ReadErr != nil || got.Kind != d.Kind || got.CallID != d.CallID || got.DecidedBy != d.By ||
			got.Reason != d.Reason || got.Proof != d.Proof || len(got.Groups) != len(d.Groups) {
			t.Errorf("%+v is read as %+v", d, got)
		}
	}
}

func TestDecisionsThatCannotBeMeantAreNotSent(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 60_000)
	for name, list := range map[string][]Decision{
		"none": nil, "no reason": {{Kind: Approve, CallID: "1.1"}, {Kind: Reject, CallID: "1.2"}},
		"no kind":  {{CallID: "1.1"}},
		"too many": make([]Decision, MaxDecisionsPerSignal+1),
		"too large": func() (list []Decision) {
			for range 40 {
				list = append(list, Decision{Kind: Answer, CallID: "1.1", Value: large})
			}
			return list
		}(),
	} {
		f := &fakeTemporal{signal: func(string, map[string]any) error {
			t.Errorf("%s: it is sent", name)
			return nil
		}}
		if _, err := f.on(t).DecideMany(t.Context(), list); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What no instance of the process is meant by is refused here, and the others are sent.
func TestOnlyDecisionsOnInstancesThatThereAreAreSent(t *testing.T) {
	t.Parallel()
	sent := map[string]any{}
	f := &fakeTemporal{signal: func(_ string, payload map[string]any) error {
		sent = payload
		return context.Canceled
	}}
	f.view = func() (any, error) {
		of := map[string]loop.InstanceResult{"①": {}, "②": {}}
		return protocol.ProcessView{ProcessResult: loop.ProcessResult{ProcessID: "p", Instances: of}}, nil
	}
	_, err := f.on(t).DecideMany(t.Context(),
		[]Decision{{Kind: Approve, CallID: "1.1@9"}, {Kind: Approve, CallID: "1.1@2"}})
	if list, _ := sent["decisions"].([]any); err == nil || len(list) != 1 ||
		jsonval.AsObject(list[0])["call"] != "1.1@2" {
		t.Errorf("%v, %v", sent, err)
	}
	outcomes, err := f.on(t).DecideMany(t.Context(), []Decision{{Kind: Approve, CallID: "1.1@9"}})
	if err != nil || len(outcomes) != 1 || !strings.Contains(outcomes[0].RefusalReason, `there is no Call "1.1@9"`) {
		t.Errorf("%+v, %v", outcomes, err)
	}
}
