//go:build unix

package mcptool

import (
	"os/exec"
	"syscall"
)

// apart keeps a command from what is typed at the worker's terminal: an interrupt is for the worker, which lets Calls
// come to their end.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
