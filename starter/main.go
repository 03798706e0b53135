// Command starter starts processes, looks at them, and runs the embedded Temporal server if none is configured. It is
// package command with the tools of the examples. That package adds only flags, printing and exit codes to package
// client.
package main

import (
	"processidea/examples/texttools"
	"processidea/starter/command"
)

func main() { command.Main(command.WithTools(texttools.Register)) }
