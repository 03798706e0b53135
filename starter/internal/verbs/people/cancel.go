package people

import (
	"context"

	"github.com/spf13/pflag"

	"processidea/client"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/verbs/process"
)

func cancelFlags(f *pflag.FlagSet, g *actOptions) {
	f.BoolVar(&g.undo, "undo", false, "take back what it did")
	f.StringVar(&g.by, "by", "", "with --undo: the `name` of the person who takes it back (default: the user's)")
	f.StringVar(&g.reason, "reason", "", "with --undo: why, for the record")
	f.BoolVar(&g.yes, "yes", false, "with --undo: do not ask")
}

// cancelAndUndo ends a process once all that it did is on record, and then undoes it. Without --undo it does nothing.
func cancelAndUndo(ctx context.Context, a *app.App, g *actOptions) (done bool, err error) {
	if !g.undo {
		return false, nil
	}
	id := g.args[0]
	switch {
	case g.reason == "":
		return true, exit.Usagef("cancel %s --undo: --reason is missing: say why, for the record", id)
	case !g.yes && !a.CanAsk():
		return true, exit.Usagef("cancel %s --undo: nothing is done, since nobody can be asked: --yes cancels it and "+
			"takes back", id)
	}
	err = a.WithProcess(ctx, id, func(p *client.Process) error { return p.Stop(ctx, g.signer()) })
	if err == nil {
		err = process.UndoAll(ctx, a, id, g.signer(), g.yes)
	}
	return true, err
}
