package process

import (
	"fmt"

	"github.com/spf13/cobra"

	"processidea/client/ideafiles"
	"processidea/model/diag"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
)

// Check says everything that is wrong with a process's files.
func Check(a *app.App) *cobra.Command {
	var files fileFlags
	c := &cobra.Command{
		Use:   "check FILE|FOLDER",
		Short: "Say everything that is wrong with a process's files",
		Long: `Say everything that is wrong with an Idea file and the files beside it, each with
its place. Neither a server nor an LLM is needed. Warnings alone do not fail.`,
		Example: `  starter check refund.json
  starter check examples/moderation --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return checkFiles(a, args[0], files) },
	}
	files.add(c)
	return c
}

// checked is one problem of check --json.
type checked struct {
	Path    string `json:"path"`
	Message string `json:"message"`
	Warning bool   `json:"warning"`
}

func checkFiles(a *app.App, given string, files fileFlags) error {
	p, err := a.Place()
	if err != nil {
		return err
	}
	source, err := files.find(given)
	if err != nil {
		return err
	}
	d, problems, err := ideafiles.Load(source, p.Tools())
	if err != nil {
		return err
	}
	if a.JSON {
		err = printProblems(a, problems)
	} else {
		a.Complain(given, problems)
	}
	switch {
	case err != nil:
		return err
	case len(problems.Errors()) > 0:
		return exit.With(exit.Usage)
	case a.JSON:
		return nil
	}
	return a.Print(fmt.Sprintf("%s: %s, %s: nothing is wrong\n", given,
		print.Plural(len(d.Read.Tools), "Tool"), print.Plural(len(d.Read.InstanceTokens()), "instance")))
}

func printProblems(a *app.App, problems diag.Problems) error {
	list := make([]checked, len(problems))
	for n, p := range problems {
		list[n] = checked(p)
	}
	return a.PrintJSON(list)
}
