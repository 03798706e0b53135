package dataflow

import (
	"reflect"
	"slices"
	"testing"
)

// A field that somebody adds must be carried, or follow from what is: see carry.go.
func TestEveryFieldOfAnInstanceIsCarriedOrFollows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of              any
		carried, follow []string
	}{
		{Instance{}, []string{"contextMessages", "state", "callRecords", "isRequestOpen", "carriedInstanceFields"},
			[]string{"token", "palette", "initialMessageCount", "contextView", "stateSchema", "writerIndex",
				"starters", "causers", "priorDecisions"}},
		{CallRecord{}, []string{"Call", "CallState", "SkippedBecauseOf",
			"DelegateValuesByPath", "PendingResult", "ReviewReason", "UntakenBranchReference", "TakenBranchNumber",
			"IsConditionMet", "FaultWrittenToBranch", "PendingApproval", "WrittenCall", "phase", "readyCall",
			"TimesAsked", "ResultAuthor", "StartLogicalTime", "EndLogicalTime", "Throttle"},
			[]string{"parsedParams", "readExpressions", "scopePaths", "delegateWritePaths", "isBlobUpdateTaken",
				"blobUpdatedValues"}},
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
