// Command custom-worker is starter and worker with additional tools.
package main

import (
	"processidea/examples/texttools"
	"processidea/starter/command"
)

func main() {
	command.Main(command.WithTools(texttools.Register), command.WithTools(newStore().register))
}
