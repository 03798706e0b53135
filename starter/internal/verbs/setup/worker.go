package setup

import (
	"regexp"

	"github.com/spf13/cobra"

	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/worker/service"
)

// Worker is the production worker as a verb. It has the tools that a program of one's own adds.
func Worker(a *app.App) *cobra.Command {
	var storePlace string
	c := service.Command(a.Err, service.WithAdditions(a.Additions),
		service.WithStore(func() string { return storePlace }))
	adoptCommand(c, func() error {
		if a.WritesJSON {
			return exit.Usagef("worker: --json has no effect, since it prints no result; for a JSON log use " +
				"--log-format json")
		}
		p, err := a.Place()
		storePlace = p.StorePlace
		return err
	})
	return c
}

// workerNamePattern matches the command name worker in an example.
var workerNamePattern = regexp.MustCompile(`(?m)^( +(?:[A-Z_]+=\S+ )*)worker`)

// adoptCommand makes a program's command and its subcommands verbs of this program. beforeRun runs before each.
func adoptCommand(c *cobra.Command, beforeRun func() error) {
	c.Example = workerNamePattern.ReplaceAllString(c.Example, "${1}starter worker")
	originalRun := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		err := beforeRun()
		if err != nil {
			return err
		}
		if err = originalRun(c, args); err != nil {
			err = &exit.Error{Code: service.ExitCode(err), Cause: err}
		}
		return err
	}
	for _, sub := range c.Commands() {
		adoptCommand(sub, beforeRun)
	}
}
