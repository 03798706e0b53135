// Command starter starts processes, looks at them, and runs the embedded Temporal server where none is configured. It is
// package command with no tools of its own, which is a thin layer over package client: flags, what is printed, and exit codes.
package main

import "processidea/starter/command"

func main() { command.Main() }
