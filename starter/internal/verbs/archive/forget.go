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
	c := app.NewCommand("forget ID", "Remove all that a process worked on, and keep the proof that it ran",
		`Remove what a process worked on, with its instances, parts and delegates. The store loses
its Ideas and all values that no other process needs; Temporal loses its histories. Each
Idea keeps only its digest, its parent's digest and its time. A last Idea says when, by
whom and why it was forgotten. verify can still check that one Idea leads to the next.

In an encrypted store the process's data key is destroyed, so that nobody can open copies
of its values, such as backups. Without encryption, and in Temporal, backups keep their
data. The database files and logs of a server that is not embedded are not checked. Exit
code 5: something was not reached, such as the schedule that started it; the last lines
say what.

--instance forgets one instance and keeps the others. The process must have ended. The
instance is taken out of every Idea, its delegates and histories are deleted, and the
process gets another data key. The digests stay, and a last Idea names the new ones. The
process's own histories tell of all its instances. They stay as long as the server keeps
them, unless --with-history deletes them; Temporal then no longer knows the process.
Outputs, notes and errors over all instances stay too; those that may tell of the instance
are named.

What --by and --reason say stays for ever: do not name there whom you want to forget.

A process at work is refused, unless --cancel ends it first. So is a process with forks,
which hold its data, unless --with-forks forgets them too. After an interruption, give the
same command again. Forgetting cannot be undone.`,
		`  starter forget refund-17 --reason "asked by the customer"
  starter forget refund-17 --with-forks --json
  starter forget newsletter --instance bed-17 --with-history`,
		func(ctx context.Context, args []string) error {
			o.Name = cmp.Or(o.Name, app.UserName())
			switch {
			case instance != "" && o.CancelIfRunning:
				return exit.Usagef("forget: --cancel would end the work of all instances: to do that, cancel the " +
					"process first")
			case instance == "" && o.WithSharedHistories:
				return exit.Usagef("forget: --with-history needs --instance; without --instance all histories are " +
					"deleted anyway")
			}
			return forgetProcess(ctx, a, args[0], instance, o)
		})
	f := c.Flags()
	f.BoolVar(&o.CancelIfRunning, "cancel", false, "end the process first, if it is at work")
	f.BoolVar(&o.WithForks, "with-forks", false, "forget the processes that were forked from it too")
	f.StringVar(&instance, "instance", "", "forget the instance of this `token` alone")
	f.BoolVar(&o.WithSharedHistories, "with-history", false,
		"with --instance: delete the histories of the process itself too")
	f.StringVar(&o.Name, "by", "", "the `name` of who does it (default: the user's)")
	f.StringVar(&o.Reason, "reason", "", "why; it stays for ever")
	return c
}

// forgetProcess forgets a process, or one instance of it.
func forgetProcess(ctx context.Context, a *app.App, id, instance string, o forget.Options) error {
	p, err := a.Place()
	if err != nil {
		return err
	}
	// If no server runs, this program runs one to delete the histories. Only --cancel needs a worker.
	s, err := p.OpenSession(ctx, server.HostOptions{UIPort: -1, GatewayPort: -1, RunsWorker: o.CancelIfRunning})
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
	areFilesReached, err := scrubForgottenFiles(ctx, s, *r)
	if err != nil {
		return fmt.Errorf("%w; to remove what remains in the server's files, forget %s again", err, id)
	}
	if !areFilesReached {
		a.Note(
			"%s", "the files of Temporal's server were not checked: its database may keep refused starts, and "+
				"deleted data until the space is reused; its logs and backups keep what they had")
	}
	err = a.Show(r, forgottenText(*r))
	if isComplete := areFilesReached && r.IsComplete(); err == nil && !isComplete {
		err = exit.WithCode(exit.IncompleteForget)
	}
	return err
}

// ideasText names Ideas by their numbers. For several Ideas it gives the first and the last number.
func ideasText(ideaNumbers []int) string {
	if len(ideaNumbers) == 1 {
		return fmt.Sprintf("Idea %d", ideaNumbers[0])
	}
	return fmt.Sprintf("%d Ideas, %d to %d", len(ideaNumbers), ideaNumbers[0], ideaNumbers[len(ideaNumbers)-1])
}

func scrubForgottenFiles(ctx context.Context, s *server.Session, r forget.Result) (areFilesReached bool, err error) {
	for _, fork := range r.ForkResults {
		if areFilesReached, err = scrubForgottenFiles(ctx, s, fork); err != nil {
			return areFilesReached, err
		}
	}
	return s.ScrubForgottenProcess(ctx, r.ProcessID)
}

func forgottenText(r forget.Result) string {
	var b strings.Builder
	for _, fork := range r.ForkResults {
		b.WriteString(forgottenText(fork))
	}
	subject, ideasPrefix, dataKeyText := print.Printable(r.ProcessID), "", "its data key is destroyed\n"
	if r.InstanceToken != "" {
		subject, ideasPrefix = print.Printable(r.InstanceToken)+" of "+subject, "taken out of "
		dataKeyText = "the process has a new data key, and the old one is destroyed\n"
	}
	fmt.Fprintf(&b, "%s: forgotten: %s%s in %s, %s (%s), and %s of workflows in Temporal\n",
		subject, ideasPrefix, print.Plural(r.AffectedIdeaCount, "Idea"),
		print.Plural(len(r.AffectedProcessIDs), "chain"),
		print.Plural(r.RemovedValueCount, "value"), sizeText(r.RemovedValueBytes),
		print.Plural(r.DeletedRunCount, "run"))
	if r.KeyDestroyed {
		b.WriteString(dataKeyText)
	}
	for _, id := range r.KeptWorkflowIDs {
		print.Fprintf(&b, "not removed: the history of %s in Temporal, which covers all its instances:"+
			" --with-history deletes it\n", id)
	}
	if r.KeptScheduleID != "" {
		print.Fprintf(&b, "not removed: what schedule %s starts processes from: \"schedule end\" deletes it\n",
			r.KeptScheduleID)
	}
	for _, m := range r.Mentions {
		print.Fprintf(&b, "not removed: %s of %s in %s: it %s\n",
			m.Path, m.Process, ideasText(m.IdeaNumbers), m.Reason)
	}
	return b.String()
}
