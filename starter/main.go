// Command starter starts processes, looks at them, and runs the embedded Temporal server where none is configured. It is
// a thin layer over package client: flags, what is printed, and exit codes.
package main

import (
	"os"

	"processidea/starter/internal/verbs"
)

func main() { os.Exit(verbs.Execute(os.Args[1:], os.Stdout, os.Stderr)) }
