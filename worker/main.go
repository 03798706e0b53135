// Command worker runs processes of a Temporal server: it asks the LLM and runs Tools until it is stopped.
package main

import (
	"os"

	_ "processidea/store/buckets" // stores in buckets
	"processidea/worker/service"
)

func main() { os.Exit(service.Execute(os.Args[1:], os.Stdout, os.Stderr)) }
