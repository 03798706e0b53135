package archive

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/learn/harden"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
)

// Harden makes a Plan of what finished processes have in common.
func Harden(a *app.App) *cobra.Command {
	file, o, approvals := "", client.HardenOptions{}, false
	c := &cobra.Command{
		Use:   "harden ID...",
		Short: "Make a Plan that runs with no LLM of what finished processes have in common",
		Long: `Make a Plan that runs with no LLM of what finished processes have in common: an Idea
file. Their chains are read from the store; no server is needed. What could not be
generalised is named on standard error with the instances it differs in, and is left out
of the Plan, which then guides an LLM instead of running by itself; where nothing is left,
no file is written. The file begins as the first process did; --template leaves its
instances out, for "run FILE --instances ROWS".

Where some instances had a Call and others had not, or another, the simplest condition is
looked for that tells them apart by what was there. What is found is named with the number
of instances behind it, and what was not seen is left to the LLM.

--approvals writes no file: it says what people did with the Calls they were asked about,
by tool, and proposes the "when" of an "_approval" that would have asked about all that
they changed, with what it would have asked. Any number of processes may be named.`,
		Example: `  starter harden moderation-1 moderation-2 -o hardened.json
  starter harden moderation-1 --template > hardened.json
  starter harden moderation-1 moderation-2 --complete -o complete.json
  starter harden --approvals refunds-1 refunds-2`,
		RunE: func(c *cobra.Command, args []string) error {
			if approvals && (o.Template || o.Complete || file != "") {
				return exit.Usagef("harden: --approvals writes no file: leave out --template, --complete and --output")
			}
			if approvals {
				return runRipen(c.Context(), a, args)
			}
			o.Processes = args
			return runHarden(c.Context(), a, file, o)
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "`file` to write (default standard output)")
	c.Flags().BoolVar(&o.Template, "template", false, "leave out what the first process began with")
	c.Flags().BoolVar(&o.Complete, "complete", false,
		"never ask an LLM, whatever happens: what fails then fails its instance")
	c.Flags().BoolVar(&approvals, "approvals", false, "say what people did with the Calls they were asked about")
	return c
}

// runHarden makes one Idea of finished processes.
func runHarden(ctx context.Context, a *app.App, file string, o client.HardenOptions) error {
	p, err := a.Place()
	if err != nil {
		return err
	}
	return a.WithArchive(ctx, func(archive *client.Archive) error {
		o.Tools = p.Tools()
		made, err := archive.Harden(ctx, o)
		if made != nil {
			noteHardened(a, made)
		}
		if err != nil {
			return err
		}
		return printHardened(a, made, file)
	})
}

// noteHardened says what is not in the file.
func noteHardened(a *app.App, made *harden.Result) {
	for _, text := range made.Notes {
		a.Note("harden: %s", text)
	}
	for _, p := range made.Differences {
		a.Note("harden: not generalised: %s; decide %s", p, p.Advice())
	}
	if n := len(made.Differences); n > 0 && made.Idea != nil {
		a.Note("harden: %s not generalised: the Plan is not optimal, and guides the LLM. Where that is decided in "+
			"the file, set \"stage\": \"optimal\" beside its Plan, and it runs without", print.PluralIs(n, "thing"))
	}
}

// printHardened writes the file.
func printHardened(a *app.App, made *harden.Result, file string) error {
	text := print.Indent(made.Idea) + "\n"
	if a.JSON {
		text = string(jsonval.Encode(jsonval.ToJSONValue(made))) + "\n"
	}
	if file == "" {
		return a.Print(text)
	}
	return writeFile(file, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
