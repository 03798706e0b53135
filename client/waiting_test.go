package client

import (
	"slices"
	"testing"

	"processidea/model/diag"
	"processidea/model/turn"
)

func TestAPausedProcessThatIsHeldUpSaysBoth(t *testing.T) {
	v := Status{}
	v.Error = &diag.Fault{Code: "llm_error", Message: "no LLM is configured"}
	if got := waitingOf(v); !slices.Equal(got, []string{"no LLM is configured"}) {
		t.Errorf("paused alone: %q", got)
	}
	v.HeldUp = []turn.HeldUp{{Cause: "store_full", Message: "there is no room left in the store"}}
	if got := waitingOf(v); !slices.Equal(got,
		[]string{"held up: there is no room left in the store", "no LLM is configured"}) {
		t.Errorf("%q", got)
	}
}
