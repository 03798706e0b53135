package chain

import (
	"strings"
	"testing"

	"processidea/internal/safego/safegotest"
)

// It is not parallel: every goroutine of the program sees the fault.
func TestAPanicWhileManifestsAreReadIsAnError(t *testing.T) {
	s := smallChain(t).cold(t)
	safegotest.Panic(t, "chain.manifests")
	if _, err := s.manifests(t.Context(), "p"); err == nil ||
		!strings.Contains(err.Error(), "chain.manifests panicked") {
		t.Errorf("%v", err)
	}
	if list, err := s.manifests(t.Context(), "p"); len(list) != 5 || err != nil {
		t.Errorf("%d, %v", len(list), err)
	}
}
