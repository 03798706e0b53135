//go:build !unix

package mcptool

import "os/exec"

func detachFromTerminal(*exec.Cmd) {}
