// Command worker runs processes of a Temporal server: it asks the LLM and runs Tools until it is stopped.
package main

import (
	"os"

	"processidea/worker/service"
)

func main() { os.Exit(service.Execute(os.Args[1:], os.Stdout, os.Stderr)) }
