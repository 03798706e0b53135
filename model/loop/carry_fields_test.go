package loop

import (
	"reflect"
	"slices"
	"testing"
)

// A field that somebody adds must be carried, or follow from what is: see carry.go.
func TestEveryFieldOfAProcessIsCarriedOrFollows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of              any
		carried, follow []string
	}{
		{Loop{}, []string{"carriedLoopFields", "Idea", "Instances", "wiredRequest", "PendingPlan"},
			// Whether it is a part, and which rules it knows, is known at each start. No Request is in flight but that
			// of a Plan that waits, and ended instances and resumed Calls were taken: see CanCarryIntoNextRun.
			[]string{"initialMessageCount", "initialInstanceCount", "ProcessID", "bindings", "instanceByToken", "wakeTime",
				"requestInFlight", "pendingRechecks", "newlyEndedInstances", "instancesToRestart", "callsToResume",
				"IsPart",
				"isAwaitingQuota", "instancesWithNewQuota", "instancesToAskForReport", "IsPatched",
				// The Idea, and the processes that it works for, say at each start whether Plans wait.
				"RequiresPlanReview", "PlanDeciders"}},
		{InstanceProgress{}, []string{"Token", "Status", "Fault", "InstanceStatusDetails", "carriedInstanceFields",
			"state", "reportByCallKey", "callsWithErrorsShown"}, nil},
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
