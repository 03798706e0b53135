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

// Harden makes a Plan from what finished processes have in common.
func Harden(a *app.App) *cobra.Command {
	file, o, reportsApprovals := "", client.HardenOptions{}, false
	c := app.NewCommand("harden ID...",
		"Make a Plan from what finished processes have in common, to run without an LLM",
		`Make an Idea file whose Plan does what finished processes have in common, without an LLM.
It reads their chains from the store and needs no server. What could not be generalised is
named on standard error, with the instances that differ, and left out: the Plan then guides
an LLM instead of running by itself. If nothing is left, no file is written. The file begins
as the first process did; --template leaves out its instances, for
"run FILE --instances ROWS".

If only some instances had a Call, harden looks for the simplest condition that separates
them, and says how many instances support it. The LLM decides what no instance has shown.

--approvals writes no file. It says for each Tool what people did with the Calls they were
asked about. It proposes a "when" for "_approval" that covers all that they changed, and
says how often it would have asked.`,
		`  starter harden moderation-1 moderation-2 -o hardened.json
  starter harden moderation-1 --template > hardened.json
  starter harden moderation-1 moderation-2 --complete -o complete.json
  starter harden --approvals refunds-1 refunds-2`,
		func(ctx context.Context, args []string) error {
			if reportsApprovals && (o.MakesTemplate || o.MustNotAskLLM || file != "") {
				return exit.Usagef("harden: --approvals writes no file: leave out --template, --complete and --output")
			}
			if reportsApprovals {
				return reportApprovals(ctx, a, args)
			}
			o.ProcessIDs = args
			return runHarden(ctx, a, file, o)
		})
	f := c.Flags()
	f.StringVarP(&file, "output", "o", "", "`file` to write (default standard output)")
	f.BoolVar(&o.MakesTemplate, "template", false, "leave out what the first process began with")
	f.BoolVar(&o.MustNotAskLLM, "complete", false,
		"never ask an LLM, whatever happens: what fails then fails its instance")
	f.BoolVar(&reportsApprovals, "approvals", false, "say what people did with the Calls they were asked about")
	return c
}

// runHarden makes one Idea from finished processes.
func runHarden(ctx context.Context, a *app.App, file string, o client.HardenOptions) error {
	p, err := a.Place()
	if err != nil {
		return err
	}
	return a.WithArchive(ctx, func(archive *client.Archive) error {
		o.Tools = p.Tools()
		result, err := archive.Harden(ctx, o)
		if result != nil {
			noteHardenResult(a, result)
		}
		if err != nil {
			return err
		}
		return printHardenResult(a, result, file)
	})
}

// noteHardenResult says what was left out of the file.
func noteHardenResult(a *app.App, result *harden.Result) {
	for _, text := range result.Notes {
		a.Note("harden: %s", text)
	}
	for _, p := range result.Differences {
		a.Note("harden: not generalised: %s; decide %s", p, p.Advice())
	}
	if n := len(result.Differences); n > 0 && result.Idea != nil {
		a.Note("harden: %s not generalised, so the Plan only guides the LLM. Decide that in the file and set "+
			"\"stage\": \"optimal\" beside its Plan: then it runs without the LLM", print.PluralWithVerb(n, "thing"))
	}
}

// printHardenResult writes the file.
func printHardenResult(a *app.App, result *harden.Result, file string) error {
	text := print.IndentJSON(result.Idea) + "\n"
	if a.WritesJSON {
		text = jsonval.EncodeToString(jsonval.ToJSONValue(result)) + "\n"
	}
	if file == "" {
		return a.Print(text)
	}
	return writeFile(file, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
