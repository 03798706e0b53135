package dataflow

import (
	"reflect"
	"slices"
	"testing"
)

// A field that somebody adds must be carried, or follow from what is: see carry.go.
func TestEveryFieldOfAnInstanceIsCarriedOrFollows(t *testing.T) {
	for _, c := range []struct {
		of              any
		carried, follow []string
	}{
		{Instance{}, []string{"context", "state", "records", "openRequests", "closedThrough", "unreportedWrites", "now", "overdueFault", "correctionCount", "planStarted"},
			[]string{"token", "palette", "baseMessages", "view", "stateSchema", "writersByKey"}},
		{Record{}, []string{"Call", "Status", "Fault", "By", "Result", "Adapted", "HandedBack", "Value", "ReviewReason", "Untaken", "Branch", "OriginalFault", "Pending",
			"Decisions", "Written", "phase", "ready", "timesAsked", "answeredBy"}, []string{"reads", "scopePaths", "delegateWrites"}},
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
