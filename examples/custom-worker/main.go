// Command custom-worker is the production worker with two tools more.
package main

import (
	"os"

	"processidea/worker/service"
)

func main() {
	os.Exit(service.Execute(os.Args[1:], os.Stdout, os.Stderr, service.WithTools(newStore().register)))
}
