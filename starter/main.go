// Command starter starts processes, looks at them, and runs the embedded Temporal server where none is configured. It
// is package command with the tools of the examples, which is a thin layer over package client: flags, what is
// printed, and exit codes.
package main

import (
	"processidea/examples/texttools"
	"processidea/starter/command"
)

func main() { command.Main(command.WithTools(texttools.Register)) }
