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

func addReviseFlags(f *pflag.FlagSet, opts *actionOptions) {
	addAuthorFlags(f, opts)
	f.StringVar(&opts.inputFile, "file", "", "the `file` with the correction")
	f.StringSliceVar(&opts.reopenTokens, "reopen", nil, "`TOKEN` of an instance that has ended, to work on again")
}

func prepareRevision(opts *actionOptions) (do processAction, err error) {
	var payload approval.SteeringPayload
	if opts.inputFile != "" || len(opts.reopenTokens) == 0 {
		if payload, err = readCorrection(opts.inputFile); err != nil {
			return nil, err
		}
	}
	c := client.Correction{Messages: payload.Context, InstanceTokensToReopen: opts.reopenTokens, Limits: payload.Limits}
	actor := client.Actor{Name: cmp.Or(payload.SentBy, opts.actor().Name), Reason: cmp.Or(payload.Reason, opts.reason)}
	return asPrepareFunc(func(ctx context.Context, p *client.Process, _ *actionOptions) error {
		return p.Revise(ctx, c, actor)
	})(opts)
}

func addAdditionFlags(f *pflag.FlagSet, opts *actionOptions) {
	addAuthorFlags(f, opts)
	f.StringVar(&opts.inputFile, "instances", "", "the `file` with the rows")
}

// prepareAddition prepares adding the rows of a file to a running process.
func prepareAddition(opts *actionOptions) (processAction, error) {
	if opts.inputFile == "" {
		return nil, exit.Usagef("add to %s: --instances is missing", opts.processID)
	}
	data, err := ideafiles.ReadFileAsUTF8(opts.inputFile)
	if err != nil {
		return nil, err
	}
	return asPrepareFunc(func(ctx context.Context, p *client.Process, opts *actionOptions) (err error) {
		opts.fileWarnings, err = p.AddInstanceRows(ctx, opts.inputFile, data, jsonval.TrustedTableNodeLimit,
			opts.actor())
		return err
	})(opts)
}

// readCorrection reads a file with messages. Limits may stand beside the messages, or under config as in an Idea. The
// file's by and reason take precedence over the flags.
func readCorrection(file string) (correction approval.SteeringPayload, err error) {
	if file == "" {
		return correction, exit.Usagef("revise: --file is missing")
	}
	v, err := ideafiles.ReadJSONOrYAMLFile(file)
	if err != nil {
		return correction, err
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
		return correction, exit.Usagef("read %s: want a list of messages, or an object with context", file)
	}
	var problems diag.Problems
	if payload, err = ideafiles.WithInstructions(payload, file, &problems); err != nil {
		return correction, err
	}
	if errs := problems.Errors(); len(errs) > 0 {
		return correction, &ideafiles.InvalidError{Source: file, Problems: errs}
	}
	correction, err = approval.ReadSteering(approval.SteerRevise, payload)
	if err != nil {
		return correction, exit.Usagef("read %s: %w", file, err)
	}
	return correction, nil
}
