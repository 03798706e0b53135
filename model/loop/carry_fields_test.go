package loop

import (
	"reflect"
	"slices"
	"testing"
)

// A field that somebody adds must be carried, or follow from what is: see carry.go.
func TestEveryFieldOfAProcessIsCarriedOrFollows(t *testing.T) {
	for _, c := range []struct {
		of              any
		carried, follow []string
	}{
		{Loop{}, []string{"idea", "members", "started", "priorRequests", "requests", "turns", "badReplies", "badOutputs", "workerLosses", "usage", "unassignedCalls",
			"wiredCall", "readySince", "plannedCalls", "pendingErrors", "nextErrorID", "log", "output", "hasOutput", "paused", "limits", "planOutput", "outputFault"},
			// No Request is in flight, who has ended was told, and Calls were handed out: see MayCarry.
			[]string{"baseMessages", "baseInstances", "process", "bindings", "byToken", "wake", "inFlight", "newlyEnded", "resumed"}},
		{InstanceProgress{}, []string{"Token", "Status", "Fault", "Missing", "Pending", "state", "calls", "lastRequest", "lastPlanned", "closedThrough", "idle",
			"errorsShown", "pendingErrors", "missingRetries", "correctionsSent", "correctionsAcked", "decidedSinceRequest", "revisedSinceRequest", "questions",
			"direct", "planner", "planFailure", "report"}, nil},
	} {
		typ := reflect.TypeOf(c.of)
		known := slices.Concat(c.carried, c.follow)
		for i := range typ.NumField() {
			if name := typ.Field(i).Name; !slices.Contains(known, name) {
				t.Errorf("%s.%s: is it carried?", typ.Name(), name)
			}
		}
		if len(known) != typ.NumField() {
			t.Errorf("%s has %d fields, and %d are known", typ.Name(), typ.NumField(), len(known))
		}
	}
}
