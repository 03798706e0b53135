package feed

import (
	"strings"
	"testing"

	"processidea/client"
	"processidea/internal/safego/safegotest"
)

// It is not parallel: every goroutine of the program sees the fault.
func TestWhoFollowsHearsOfAPanicAndMayFollowAgain(t *testing.T) {
	safegotest.Panic(t, "feed.watch")
	f := feedOf(&fake{now: client.HistoryPosition{RunID: "0123456789", EventCount: 3}})
	if _, err := f.Follow(t.Context(), "p", Cursor{}, true); err == nil ||
		!strings.Contains(err.Error(), "feed.watch panicked") {
		t.Errorf("%v", err)
	}
	again, err := f.Follow(t.Context(), "p", Cursor{}, true)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
