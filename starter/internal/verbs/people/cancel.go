package people

import (
	"context"

	"github.com/spf13/pflag"

	"processidea/client"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/verbs/process"
)

func addCancelFlags(f *pflag.FlagSet, opts *actionOptions) {
	f.BoolVar(&opts.shouldUndo, "undo", false, "take back what it did")
	f.StringVar(&opts.actorName, "by", "", "with --undo: the `name` of the person who takes it back (default: the user's)")
	f.StringVar(&opts.reason, "reason", "", "with --undo: why, for the record")
	f.BoolVar(&opts.isConfirmed, "yes", false, "with --undo: do not ask")
}

// cancelAndUndo ends a process once all that it did is on record, and then undoes it. Without --undo it does nothing.
func cancelAndUndo(ctx context.Context, a *app.App, opts *actionOptions) (isHandled bool, err error) {
	if !opts.shouldUndo {
		return false, nil
	}
	id := opts.args[0]
	switch {
	case opts.reason == "":
		return true, exit.Usagef("cancel %s --undo: --reason is missing: say why, for the record", id)
	case !opts.isConfirmed && !a.CanPrompt():
		return true, exit.Usagef("cancel %s --undo: nothing is done, since nobody can be asked: --yes cancels it and "+
			"takes back", id)
	}
	err = a.WithProcess(ctx, id, func(p *client.Process) error { return p.Stop(ctx, opts.actor()) })
	if err == nil {
		err = process.UndoAll(ctx, a, id, opts.actor(), opts.isConfirmed)
	}
	return true, err
}
