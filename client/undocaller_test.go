package client

import (
	"encoding/json"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/store/chain"
)

// Which Call ran a delegate is found in the store, however deep it is, so that it is not taken back beside its Call.
func TestTheCallerOfADelegateIsFoundWhereItsIDIsShortened(t *testing.T) {
	t.Parallel()
	store := storeOf(t)
	archive := New(nil, "", store).Archive()
	seal := func(process string) {
		_, err := chain.New(store).Seal(t.Context(), chain.IdeaToSeal{ProcessID: process, IdeaNumber: 1,
			Idea: map[string]any{"meta": map[string]any{"n": json.Number("1")}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	caller, shortened := "p", 0
	for n := range 8 {
		if n%3 == 1 { // a split one's
			caller = protocol.PartID(caller, 2)
		}
		call := "1.2@" + strings.Repeat("long-token", 4)
		id := protocol.DelegateID(caller, call)
		process, _, err := archive.callerOf(t.Context(), id)
		if process != "" && !strings.HasPrefix(id, caller+"/") || err != nil {
			t.Errorf("before %s is there: %s, %v", caller, process, err)
		}
		seal(caller)
		process, named, err := archive.callerOf(t.Context(), id)
		if process != caller || named != ideafile.TypeableCallID(call) || err != nil {
			t.Errorf("%s runs for %s %s, %v; want %s", id, process, named, err, caller)
		}
		if caller = id; !strings.HasPrefix(id, process+"/") {
			shortened++
		}
	}
	if shortened < 4 {
		t.Errorf("only %d ids were shortened", shortened)
	}
	for _, id := range []string{"p", "p/~part/2", "q/~call/1.1@1"} {
		if process, _, err := archive.callerOf(t.Context(), id); process != "" || err != nil {
			t.Errorf("%s runs for %s, %v", id, process, err)
		}
	}
}
