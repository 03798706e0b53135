package turn

import (
	"cmp"

	"processidea/model/diag"
)

// PauseFault returns the PauseReason of a process that a person paused.
func PauseFault(person, reason string) *diag.Fault {
	f := diag.Faultf(CodePaused, "paused by %s", cmp.Or(person, "a person"))
	if reason != "" {
		f.Message += ": " + reason
	}
	return f
}
