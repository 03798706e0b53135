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
		{Loop{}, []string{"idea", "instances", "startedAt", "priorRequests", "requestCount", "turnCount", "badRepliesInRow", "badOutputsInRow", "workerLossesInRow", "usage", "unassignedCalls",
			"wiredRequest", "readySince", "plannedCalls", "pendingErrors", "lastErrorID", "unsealedLog", "output", "hasOutput", "pauseReason", "limits", "planOutputTried", "outputFault"},
			// No Request is in flight, and ended instances and resumed Calls were taken: see CanCarry.
			[]string{"baseMessages", "baseInstances", "processID", "bindings", "byToken", "wakeTime", "inFlight", "newlyEnded", "resumedCalls"}},
		{InstanceProgress{}, []string{"Token", "Status", "Fault", "Missing", "Pending", "carriedProgress", "state", "calls", "errorsShown", "planner"}, nil},
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
