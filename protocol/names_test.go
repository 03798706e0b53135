package protocol_test

import (
	"testing"

	"processidea/protocol"
)

// These stand in histories and in other people's scripts: a change here breaks running processes and clients.
func TestNamesNeverChange(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		protocol.TaskQueue: "process-idea", protocol.ProcessType: "Process", protocol.InstanceType: "Instance",
		protocol.RequestTaskQueue: "process-idea-requests", protocol.LimitType: "Limit",
		protocol.LimitWorkflowID("t"):   "~limit/t",
		protocol.ActivityAwaitLimitTurn: "AwaitTurn", protocol.UpdateLimitTurns: "turns",

		protocol.ActivityPrepareProcess: "Prepare", protocol.ActivityRequestLLM: "Request",
		protocol.ActivityExecute:      "Execute",
		protocol.ActivityExecuteBatch: "Burst",
		protocol.ActivitySealIdea:     "Seal", protocol.ActivityIsProcessGone: "Gone",
		protocol.ActivityDeliverSignals:   "Deliver",
		protocol.ActivityGatherParts:      "Gather",
		protocol.ActivityDiscoverMCPTools: "Discover", protocol.ActivityNotifyPeople: "Notify",
		protocol.ActivityLoadObject: "Load",
		protocol.ActivityAwaitStore: "AwaitStore", protocol.ActivityVerifyProof: "VerifyProof",
		protocol.ActivityUpdateBlobs: "Combine",

		protocol.SignalCalls: "calls", protocol.SignalCloseRequest: "close", protocol.SignalEndInstance: "end",
		protocol.SignalInstanceReport: "report",
		protocol.SignalPartReport:     "part", protocol.SignalDelegateReport: "delegate",
		protocol.SignalHoldInstance:    "hold",
		protocol.SignalCorrectInstance: "correct", protocol.SignalSteerChild: "lead",
		protocol.SignalRequestHoldUp: "heldUp",
		protocol.SignalWorkerHoldUp:  "holdUp",

		protocol.QueryStatus: "status", protocol.QueryIdea: "idea", protocol.QueryApprovals: "approvals",
		protocol.QueryPlanProgress: "plan",
		protocol.UpdateActOutcomes: "outcome",
		protocol.MemoPath:          "path", protocol.MemoVersion: "version", protocol.MemoFileDigest: "file",
		protocol.AttributeStatus: "IdeaStatus", protocol.AttributePendingDecisions: "IdeaAwaiting",
		protocol.AttributePath: "IdeaPath",
	} {
		if got != want {
			t.Errorf("%q was %q", got, want)
		}
	}
}

func TestIDsNeverChange(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		protocol.InstanceID("refunds", ""):             "refunds/main",
		protocol.InstanceID("refunds", "⑬"):            "refunds/13",
		protocol.InstanceID("refunds", "㊿"):            "refunds/50",
		protocol.InstanceID("refunds", "51"):           "refunds/51",
		protocol.InstanceID("refunds", "Müller_1-a.b"): "refunds/M%C3%BCller_1-a.b",
		protocol.InstanceID("refunds", "⑬a"):           "refunds/%E2%91%ACa",
		protocol.DelegateID("refunds", "1.2@⑬"):        "refunds/~call/1.2@13",
		protocol.DelegateID("refunds", "1.2"):          "refunds/~call/1.2",
		protocol.InstanceID("refunds", "a b/c%"):       "refunds/a%20b%2Fc%25",
		protocol.PartID("refunds", 3):                  "refunds/~part/3",
		protocol.DelegateID("refunds", "1.2@a/b"):      "refunds/~call/1.2@a%2Fb",
		protocol.IdempotencyKey("refunds", "", "1.2"):  "refunds/main/1.2",
		protocol.UndoKey("refunds", "", "1.2"):         "refunds/main/1.2/undo",
		protocol.IdempotencyKey("p", "①", "1.2@①"):     "p/%E2%91%A0/1.2@%E2%91%A0",
		protocol.IdempotencyKey("p q", "a/b", "1.1@a"): "p%20q/a%2Fb/1.1@a",
	} {
		if got != want {
			t.Errorf("%q was %q", got, want)
		}
	}
}

func TestAnInstancesIDIsTakenApartAndAProcessesIsNot(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"refunds/13": "refunds|13", "refunds/⑬": "refunds|⑬", "refunds/main": "refunds|",
		"refunds/~part/2/13":        "refunds/~part/2|13",
		"refunds/~call/1.2@13/main": "refunds/~call/1.2@13|",
		"refunds":                   "", "refunds/~part/2": "", "refunds/~call/1.2@13": "",
	} {
		process, word, ok := protocol.ParseInstanceID(id)
		if got := process + "|" + word; ok != (want != "") || ok && got != want || !ok && process != id {
			t.Errorf("%s: %s, %v", id, got, ok)
		}
	}
}
