package people

import (
	"cmp"
	"context"

	"github.com/spf13/pflag"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/starter/internal/exit"
)

func reviseFlags(f *pflag.FlagSet, g *actOptions) {
	addAuthorFlags(f, g)
	f.StringVar(&g.file, "file", "", "the `file` with the correction")
	f.StringSliceVar(&g.reopen, "reopen", nil, "`TOKEN` of an instance that has ended, to work on again")
}

func revise(g *actOptions) (do action, err error) {
	var read approval.SteeringPayload
	if g.file != "" || len(g.reopen) == 0 {
		if read, err = readCorrection(g.file); err != nil {
			return nil, err
		}
	}
	c := client.Correction{Context: read.Context, Reopen: g.reopen, Limits: read.Limits}
	by := client.By{Name: cmp.Or(read.By, g.signer().Name), Reason: cmp.Or(read.Reason, g.reason)}
	return steering(func(ctx context.Context, p *client.Process, _ *actOptions) error {
		return p.Revise(ctx, c, by)
	})(g)
}

func addFlags(f *pflag.FlagSet, g *actOptions) {
	addAuthorFlags(f, g)
	f.StringVar(&g.file, "instances", "", "the `file` with the rows")
}

// add prepares adding the rows of a file to a running process.
func add(g *actOptions) (action, error) {
	if g.file == "" {
		return nil, exit.Usagef("add to %s: --instances is missing", g.process)
	}
	data, err := ideafiles.ReadFile(g.file)
	if err != nil {
		return nil, err
	}
	return steering(func(ctx context.Context, p *client.Process, g *actOptions) (err error) {
		g.warnings, err = p.AddRows(ctx, g.file, data, jsonval.OwnTableParts, g.signer())
		return err
	})(g)
}

// readCorrection reads a file with messages. Limits may stand beside the messages, or under config as in an Idea. The
// file's by and reason take precedence over the flags.
func readCorrection(file string) (c approval.SteeringPayload, err error) {
	if file == "" {
		return c, exit.Usagef("revise: --file is missing")
	}
	v, err := ideafiles.ReadValue(file)
	if err != nil {
		return c, err
	}
	payload := jsonval.Object{}
	switch v := v.(type) {
	case []any:
		payload["context"] = v
	case jsonval.Object:
		for k, part := range v {
			config, isObject := part.(jsonval.Object)
			limits, ok := config["limits"]
			if k == "config" && isObject && ok && len(config) == 1 {
				k, part = "limits", limits
			}
			payload[k] = part
		}
	default:
		return c, exit.Usagef("read %s: want a list of messages, or an object with context", file)
	}
	var problems diag.Problems
	if payload, err = ideafiles.WithInstructions(payload, file, &problems); err != nil {
		return c, err
	}
	if errs := problems.Errors(); len(errs) > 0 {
		return c, &ideafiles.InvalidError{Source: file, Problems: errs}
	}
	c, err = approval.ReadSteering(approval.SteerRevise, payload)
	if err != nil {
		return c, exit.Usagef("read %s: %w", file, err)
	}
	return c, nil
}
