//go:build unix

package mcptool

import (
	"os/exec"
	"syscall"
)

// apart separates a command from the worker's terminal: an interrupt is for the worker, which lets Calls finish.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
