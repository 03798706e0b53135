package archive

import (
	"strings"
	"testing"

	"processidea/store/chain"
	"processidea/store/encryption"
)

// What is found broken is said, and is the outcome, though the rest could not be checked: who hides a change would else
// have only to make a later value unreadable.
func TestABrokenChainIsBrokenThoughItsRestCannotBeChecked(t *testing.T) {
	t.Parallel()
	missingKey := &encryption.MissingKeyError{IDs: []string{"k2"}}
	report := &chain.Report{Broken: []chain.BrokenItem{{Item: "Idea 3"}}}
	if err := addUncheckedRest(report, missingKey); err != nil || len(report.Broken) != 2 ||
		!strings.Contains(report.Broken[1].Problem, "k2") {
		t.Errorf("%v, %+v", err, report.Broken)
	}
	for _, report := range []*chain.Report{nil, {}} {
		if err := addUncheckedRest(report, missingKey); err == nil {
			t.Errorf("%+v counts as checked", report)
		}
	}
}
