package setup

import (
	"github.com/spf13/cobra"

	"processidea/client/ideafiles"
	"processidea/starter/internal/app"
)

// Schema prints the JSON Schema of an Idea file.
func Schema(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of an Idea file, by which an editor completes and checks it",
		Long: `Print the JSON Schema of an Idea file. An editor that knows JSON Schema completes and
checks a file which names it: "$schema": "./idea.schema.json". "check" finds what a
schema cannot say.`,
		Example: `  starter schema > idea.schema.json`,
		RunE:    func(*cobra.Command, []string) error { return a.Print(string(ideafiles.Schema)) },
	}
}
