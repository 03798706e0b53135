package people

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/model/approval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
)

// Revise corrects a process.
func Revise(a *app.App) *cobra.Command {
	var by byFlags
	file, reopen := "", []string(nil)
	c := &cobra.Command{
		Use:   "revise ID [--file FILE] [--reopen TOKEN]",
		Short: "Correct a process: new values, inputs, instructions, Plan or limits, or an instance to work on again",
		Long: `Correct a process. The file, JSON or YAML, holds messages as an Idea's context does:
a list, or an object with "context", and "limits" if wanted. They come after all others:
a state message sets values of one instance, or of all; input, data, text, instruction
and plan messages are seen from the next Request on. The correction makes a new Idea;
the old one stays as it is.

--reopen has an instance that has settled or failed worked on again: the next Request is
about it, and is told the --reason. What was written stays. In the file, "reopen": true
in a message for the instance does the same.`,
		Example: `  starter revise refunds --file correction.json --reason "wrong price list"
  starter revise refunds --reopen 13 --reason "the customer wrote again"`,
		RunE: func(c *cobra.Command, args []string) error {
			return revise(c.Context(), a, args[0], file, reopen, by.who())
		},
	}
	by.add(c)
	c.Flags().StringVar(&file, "file", "", "the `file` with the correction")
	c.Flags().StringSliceVar(&reopen, "reopen", nil, "`TOKEN` of an instance that has ended, to work on again")
	return c
}

func revise(ctx context.Context, a *app.App, process, file string, reopen []string, by client.By) error {
	var read approval.SteeringPayload
	if file != "" || len(reopen) == 0 {
		var err error
		read, err = readCorrection(file)
		if err != nil {
			return err
		}
	}
	c := client.Correction{Context: read.Context, Reopen: reopen, Limits: read.Limits}
	by = client.By{Name: cmp.Or(read.By, by.Name), Reason: cmp.Or(read.Reason, by.Reason)}
	return steer(ctx, a, process, approval.SteerRevise, func(p *client.Process) error { return p.Revise(ctx, c, by) })
}

// readCorrection reads a file with messages, and limits beside them or where an Idea has them. What it says of who and
// why counts instead of the flags.
func readCorrection(file string) (c approval.SteeringPayload, err error) {
	if file == "" {
		return c, exit.Usagef("revise: --file is missing")
	}
	v, err := ideafiles.ReadValue(file)
	if err != nil {
		return c, err
	}
	payload := map[string]any{}
	switch v := v.(type) {
	case []any:
		payload["context"] = v
	case map[string]any:
		for k, part := range v {
			config, isObject := part.(map[string]any)
			limits, ok := config["limits"]
			if k == "config" && isObject && ok && len(config) == 1 {
				k, part = "limits", limits
			}
			payload[k] = part
		}
	default:
		return c, exit.Usagef("read %s: want a list of messages, or an object with context", file)
	}
	c, err = approval.ReadSteering(approval.SteerRevise, payload)
	if err != nil {
		return c, exit.Usagef("read %s: %w", file, err)
	}
	return c, nil
}
