//go:build unix

package mcptool

import (
	"os/exec"
	"syscall"
)

// detachFromTerminal separates a command from the worker's terminal: an interrupt must reach only the worker, which
// lets Calls finish.
func detachFromTerminal(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
