package process

import (
	"context"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/starter/internal/app"
	"processidea/starter/internal/server"
)

// Run starts a process, shows its progress and prints its result.
func Run(a *app.App) *cobra.Command {
	var o launchOptions
	var files fileFlags
	c := &cobra.Command{
		Use:   "run FILE|FOLDER",
		Short: "Start a process, show its progress and print its result",
		Long: `Start a process from an Idea file, JSON or YAML, show its progress on standard
error and print its result on standard output.

A folder stands for its idea.json (or .yaml), instances.jsonl (or .csv) and
replies.jsonl, unless a flag names another. Its replies answer only if no LLM is
configured: with OPENAI_API_KEY or OPENAI_BASE_URL the real one plans.

A second run with the same id and files attaches to the process, at work or ended.`,
		Example: `  starter run examples/moderation
  starter run refund.json --id refund-17 --wait 10m
  starter run moderation.yaml --instances comments.csv --json
  starter run plan.json --record replies.jsonl
  starter run again.json --with-solution`,
		RunE: func(c *cobra.Command, args []string) error {
			o.hostOptions.RunsWorker, o.hasExplicitID = true, c.Flags().Changed("id")
			return run(c.Context(), a, args[0], files, o)
		},
	}
	files.addFlags(c)
	o.addFlags(c)
	c.Flags().BoolVar(&o.needsPlanApproval, "plan-first", false,
		"have every Plan wait, as a whole, until a person has approved it (config.approval.plan)")
	c.Flags().BoolVar(&o.resumeIfPaused, "resume", false, "let the process go on if it is there and paused")
	a.AddFailOnFailedCallsFlag(c)
	return c
}

// run starts a process or attaches to it, and waits.
func run(ctx context.Context, a *app.App, path string, files fileFlags, o launchOptions) error {
	if _, err := app.SigningKey(""); err != nil {
		return err // a bad key must stop the command before anything starts
	}
	p, err := a.Place()
	if err != nil {
		return err
	}
	d, err := prepareRun(a, p, path, files, &o)
	if err != nil {
		return err
	}
	return launchAndFollow(ctx, a, p, d, o)
}

// prepareRun reads and checks everything that the process starts from. It reports errors before anything starts.
func prepareRun(a *app.App, p server.Place, path string, files fileFlags,
	o *launchOptions) (*ideafiles.Definition, error) {
	if err := o.validate(p); err != nil {
		return nil, err
	}
	source, err := files.findSource(path)
	if err != nil {
		return nil, err
	}
	definition, problems, err := ideafiles.LoadAndChange(source, p.Tools(), o.applyTo)
	if err != nil {
		return nil, err
	}
	if err := checkDefinition(a, p, definition, problems, o.recordedRepliesFile); err != nil {
		return nil, err
	}
	if !o.hasExplicitID {
		o.processID = client.NewProcessID(source.Name())
	}
	return definition, nil
}
