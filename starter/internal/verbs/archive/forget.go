package archive

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client/forget"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

// Forget removes what a process worked on.
func Forget(a *app.App) *cobra.Command {
	var o forget.Options
	var instance string
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
embedded the database's files and logs are not looked at. Exit code 5 where something
was not reached; the last lines say what.

--instance forgets one instance and leaves the others: it is taken out of every Idea,
its delegates and its histories go, and the process gets another data key. The digests
stay, and a last Idea names those of what is left. The process must have ended. The
histories of the process itself tell of all its instances: they stay for as long as the
server keeps them, unless --with-history deletes them, after which Temporal does not
know the process. An output, a note or an error over all instances stays too, and it is
said which may tell of the instance.

What --by and --reason say stays in the chain for ever: name nobody there who is to be
forgotten.

A process at work is refused, unless --cancel ends it first. So is one with forks, which
hold what it had worked on by then, unless --with-forks forgets them too. What was
interrupted is completed when the same command is given again. It cannot be undone.`,
		Example: `  starter forget refund-17 --reason "asked by the customer"
  starter forget refund-17 --with-forks --json
  starter forget newsletter --instance bed-17 --with-history`,
		RunE: func(c *cobra.Command, args []string) error {
			o.Name = cmp.Or(o.Name, app.UserName())
			switch {
			case instance != "" && o.Cancel:
				return exit.Usagef("forget: --cancel would end the work of all instances: to do that, cancel the " +
					"process first")
			case instance == "" && o.WithHistory:
				return exit.Usagef("forget: --with-history needs --instance; without --instance all histories are " +
					"deleted anyway")
			}
			return forgetProcess(c.Context(), a, args[0], instance, o)
		},
	}
	c.Flags().BoolVar(&o.Cancel, "cancel", false, "end the process first, if it is at work")
	c.Flags().BoolVar(&o.WithForks, "with-forks", false, "forget the processes that were forked from it too")
	c.Flags().StringVar(&instance, "instance", "", "forget the instance of this `token` alone")
	c.Flags().BoolVar(&o.WithHistory, "with-history", false,
		"with --instance: delete the histories of the process itself too")
	c.Flags().StringVar(&o.Name, "by", "", "the `name` of who does it (default: the user's)")
	c.Flags().StringVar(&o.Reason, "reason", "", "why; it stays for ever")
	return c
}

// forgetProcess forgets a process, or one instance of it.
func forgetProcess(ctx context.Context, a *app.App, id, instance string, o forget.Options) error {
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
	var r *forget.Result
	if instance != "" {
		r, err = forget.Instance(ctx, s.Client, id, instance, o)
	} else {
		r, err = forget.Process(ctx, s.Client, id, o)
	}
	if err != nil {
		return err
	}
	reached, err := forgetFiles(ctx, s, *r)
	if err != nil {
		return fmt.Errorf("%w; to remove what remains in the server's files, forget %s again", err, id)
	}
	if !reached {
		a.Note(
			"%s", "the files of Temporal's server were not checked: its database may keep deleted data until the "+
				"space is reused, and refused starts; its logs and backups keep what they had")
	}
	err = a.Show(r, forgottenText(*r))
	if whole := reached && r.IsComplete(); err == nil && !whole {
		err = exit.WithCode(exit.Unerased)
	}
	return err
}

// ideasText names Ideas by their numbers, the first and the last where they are many.
func ideasText(ideas []int) string {
	if len(ideas) == 1 {
		return fmt.Sprintf("Idea %d", ideas[0])
	}
	return fmt.Sprintf("%d Ideas, %d to %d", len(ideas), ideas[0], ideas[len(ideas)-1])
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
	who, took, key := print.Printable(r.Process), "", "its data key is destroyed\n"
	if r.Instance != "" {
		who, took = print.Printable(r.Instance)+" of "+who, "taken out of "
		key = "the process has a new data key, and the old one is destroyed\n"
	}
	fmt.Fprintf(&b, "%s: forgotten: %s%s in %s, %s (%s), and %s of workflows in Temporal\n",
		who, took, print.Plural(r.Ideas, "Idea"), print.Plural(len(r.Chains), "chain"),
		print.Plural(r.Values, "value"), sizeText(r.ValueBytes), print.Plural(r.Executions, "run"))
	if r.KeyDestroyed {
		b.WriteString(key)
	}
	for _, id := range r.Left {
		print.Fprintf(&b, "not removed: the history of %s in Temporal, which covers all its instances:"+
			" --with-history deletes it\n", id)
	}
	for _, m := range r.Mentions {
		print.Fprintf(&b, "not removed: %s of %s in %s: it %s\n",
			m.Part, m.Process, ideasText(m.Ideas), m.Why)
	}
	return b.String()
}
