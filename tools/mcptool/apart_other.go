//go:build !unix

package mcptool

import "os/exec"

func apart(*exec.Cmd) {}
