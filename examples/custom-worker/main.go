// Command custom-worker is starter and worker with two tools more.
package main

import "processidea/starter/command"

func main() {
	command.Main(command.WithTools(newStore().register))
}
