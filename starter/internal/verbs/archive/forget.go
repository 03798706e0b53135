package archive

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client/forget"
	"processidea/starter/internal/app"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

// Forget removes what a process worked on.
func Forget(a *app.App) *cobra.Command {
	var o forget.Options
	c := &cobra.Command{
		Use:   "forget ID",
		Short: "Remove all that a process worked on, and keep the proof that it ran",
		Long: `Remove what a process worked on, with its instances, parts and delegates: its Ideas
and all values that no other process needs, from the store, and its histories, from
Temporal. Of each Idea the digest, its parent's and its time stay, and a last Idea says
when, by whom and why it was forgotten; verify still checks that one leads to the other.

Where the store is encrypted, the process's data key is destroyed, so that copies of
what it encrypted, such as backups, cannot be opened any more. Without encryption, and
in Temporal, forgetting is deleting: backups keep what they hold. Of a server that is not
embedded the database's files and logs are not looked at.

What --by and --reason say stays in the chain for ever: name nobody there who is to be
forgotten.

A process at work is refused, unless --cancel ends it first. So is one with forks, which
hold what it had worked on by then, unless --with-forks forgets them too. What was
interrupted is completed when the same command is given again. It cannot be undone.`,
		Example: `  starter forget refund-17 --reason "asked by the customer"
  starter forget refund-17 --with-forks --json`,
		RunE: func(c *cobra.Command, args []string) error {
			o.Name = cmp.Or(o.Name, app.UserName())
			return forgetProcess(c.Context(), a, args[0], o)
		},
	}
	c.Flags().BoolVar(&o.Cancel, "cancel", false, "end the process first, if it is at work")
	c.Flags().BoolVar(&o.WithForks, "with-forks", false, "forget the processes that were forked from it too")
	c.Flags().StringVar(&o.Name, "by", "", "the `name` of who does it (default: the user's)")
	c.Flags().StringVar(&o.Reason, "reason", "", "why; it stays for ever")
	return c
}

func forgetProcess(ctx context.Context, a *app.App, id string, o forget.Options) error {
	p, err := a.Place()
	if err != nil {
		return err
	}
	// Where no server runs, one of its own deletes the histories; a worker is needed to cancel.
	s, err := p.Enter(ctx, server.Hosting{UIPort: -1, GatewayPort: -1, Worker: o.Cancel})
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := forget.Process(ctx, s.Client, id, o)
	if err != nil {
		return err
	}
	reached, err := forgetFiles(ctx, s, *r)
	if err != nil {
		return fmt.Errorf("%w; what remains in the server's files goes when %s is forgotten again", err, id)
	}
	if !reached {
		a.Note("%s", "the files of Temporal's server were not looked at: its database may hold what it deleted until the room"+
			" is used again, and the starts that it refused; its logs and backups hold what they held")
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	return a.Print(forgottenText(*r))
}

func forgetFiles(ctx context.Context, s *server.Session, r forget.Result) (reached bool, err error) {
	for _, fork := range r.Forks {
		if reached, err = forgetFiles(ctx, s, fork); err != nil {
			return reached, err
		}
	}
	return s.Forget(ctx, r.Process)
}

func forgottenText(r forget.Result) string {
	var b strings.Builder
	for _, fork := range r.Forks {
		b.WriteString(forgottenText(fork))
	}
	fmt.Fprintf(&b, "%s: forgotten: %s in %s, %s (%s), and %s of workflows in Temporal\n", print.Printable(r.Process), print.Plural(r.Ideas, "Idea"),
		print.Plural(len(r.Chains), "chain"), print.Plural(r.Values, "value"), size(r.ValueBytes), print.Plural(r.Executions, "run"))
	if r.KeyDestroyed {
		b.WriteString("its data key is destroyed\n")
	}
	return b.String()
}
