package setup

import (
	"context"

	"github.com/spf13/cobra"

	"processidea/client/ideafiles"
	"processidea/starter/internal/app"
)

// Schema prints the JSON Schema of an Idea file.
func Schema(a *app.App) *cobra.Command {
	return app.NewCommand("schema", "Print the JSON Schema of an Idea file, by which an editor completes and checks it",
		`Print the JSON Schema of an Idea file. An editor that knows JSON Schema completes and
checks a file which names it: "$schema": "./idea.schema.json". "check" finds what a
schema cannot say.`,
		`  starter schema > idea.schema.json`,
		func(_ context.Context, _ []string) error { return a.Print(string(ideafiles.Schema)) })
}
