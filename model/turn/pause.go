package turn

import (
	"cmp"

	"processidea/model/diag"
)

// PauseFault returns the PauseReason of a process that a person paused.
func PauseFault(by, reason string) *diag.Fault {
	f := diag.Faultf(CodePaused, "paused by %s", cmp.Or(by, "a person"))
	if reason != "" {
		f.Message += ": " + reason
	}
	return f
}
