package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/internal/flags"
	"processidea/model/diag"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/undo"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

// undoOptions holds the flags of undo.
type undoOptions struct {
	launchOptions
	targetProcessID, undoProcessID string // the process, and the process that takes it back
	selection                      undo.Selection
	actor                          client.Actor
	isDryRun, isConfirmed          bool
	needsReview                    bool
	// undo is part of fork: success is not reported, and having nothing to take back is no error
	isBeforeFork bool
}

// Undo takes back what a process did.
func Undo(a *app.App) *cobra.Command {
	var o undoOptions
	c := &cobra.Command{
		Use:   "undo ID --reason TEXT",
		Short: "Take back what the Calls of a process did, as their Tools say",
		Long: `Take back what the Calls of a process did, as "_undo" of their Tools says.
A Call is taken back after all that read from it, and stays if one of them cannot be taken
back. You first see what would be taken back, what cannot be and why, and what stays; then
you are asked (--yes answers yes). A new process does it, ID-undo-1 or the next number,
unless --as names it, under the approval policies of the Tools that take back. A process at
work is paused first, takes back by itself, and goes on with resume. Each Call is taken back
under the original's idempotency key, so nothing is taken back twice.

--to keeps what was done when Idea K was made. --instance takes back one instance, --call
one Call with all that read from it. Without them, all is taken back.`,
		Example: `  starter undo trip-4 --dry-run
  starter undo trip-4 --by ann --reason "the customer fell ill"
  starter undo refunds --call 1.2@13 --yes --reason "the wrong account"`,
		RunE: func(c *cobra.Command, args []string) error {
			o.targetProcessID, o.hostOptions.RunsWorker = args[0], true
			o.selection.HasInstance = c.Flags().Changed("instance")
			var errs []error
			if o.selection.CallID != "" && (o.selection.AfterIdeaNumber > 0 || o.selection.HasInstance) {
				errs = append(errs, exit.Usagef(
					"undo %s: --call undoes one Call and all that read from it: leave out --to and --instance",
					o.targetProcessID))
			}
			if o.actor.Name = cmp.Or(o.actor.Name, app.UserName()); o.actor.Reason == "" && !o.isDryRun {
				errs = append(errs, exit.Usagef("undo %s: --reason is missing: say why, for the record",
					o.targetProcessID))
			}
			if errs != nil {
				return errors.Join(errs...)
			}
			return undoProcess(c.Context(), a, o)
		},
	}
	f := c.Flags()
	flags.Int(f, &o.selection.AfterIdeaNumber, "to", 1, jsonval.MaxCount,
		"leave what was done when the Idea of this `number` was made")
	f.StringVar(&o.selection.Instance, "instance", "", "only what was done in the instance of this `token`")
	f.StringVar(&o.selection.CallID, "call", "", "only what this `Call` did, and all that read from it")
	f.StringVar(&o.undoProcessID, "as", "", "the `id` of the process that takes back (default: ID-undo-1, or the next number)")
	f.BoolVar(&o.isDryRun, "dry-run", false, "say what would be taken back, and do nothing")
	f.BoolVar(&o.isConfirmed, "yes", false, "do not ask")
	f.BoolVar(&o.needsReview, "review", false,
		"each Call waits for a person: approve runs it, answer says how else it was taken back, reject leaves it")
	f.StringVar(&o.actor.Name, "by", "", "the `name` of the person who takes it back (default: the user's)")
	f.StringVar(&o.actor.Reason, "reason", "", "why, for the record")
	f.BoolVar(&o.isDetached, "detach", false, "start taking back and return at once")
	f.StringArrayVar(&o.deciderGroups, "group", nil,
		"a `group` of the person who decides at the terminal; may be repeated (default $PROCESSIDEA_GROUPS, "+
			"separated by commas)")
	app.AddHostingFlags(c, &o.hostOptions)
	addWaitFlag(c, &o.maxWait)
	return c
}

// UndoAll takes back all that an ended process did. isConfirmed skips the question.
func UndoAll(ctx context.Context, a *app.App, id string, actor client.Actor, isConfirmed bool) error {
	return undoProcess(ctx, a, undoOptions{
		launchOptions: launchOptions{hostOptions: server.HostOptions{RunsWorker: true}}, targetProcessID: id,
		actor:       actor,
		isConfirmed: isConfirmed,
	})
}

func undoProcess(ctx context.Context, a *app.App, o undoOptions) error {
	p, err := a.Place()
	if err != nil {
		return err
	}
	options := client.UndoOptions{Selection: o.selection, Tools: p.Tools(), UndoProcessID: o.undoProcessID,
		Actor:            o.actor,
		ReviewsUndoCalls: o.needsReview, WaitLimit: o.maxWait}
	if o.isDetached {
		options.WaitLimit = time.Nanosecond
	}
	if o.isDryRun {
		u, err := planUndo(ctx, a, o.targetProcessID, options)
		if err != nil {
			return err
		}
		text := undoPlanText(u)
		if u.IsProcessOpen {
			text += "it is at work: it is paused first, and what is not on record yet is then taken back too\n"
		}
		return a.Show(u, text)
	}
	if !o.isConfirmed && !o.isBeforeFork && !a.CanPrompt() { // refuse before anything is paused
		return exit.Usagef("undo %s: nothing was undone: repeat with --yes to undo it, or with --dry-run to see what "+
			"that would do", o.targetProcessID)
	}
	session, err := openSession(ctx, p, o.launchOptions)
	if err != nil {
		return err
	}
	l := &launchedProcess{App: a, session: session, options: o.launchOptions}
	defer func() { l.session.Close() }()
	wasPaused, err := session.PauseForUndo(ctx, o.targetProcessID, options)
	if wasPaused {
		a.Note("%s is paused first, so that all that it did is on record; to go on: %s resume %s", o.targetProcessID,
			print.ProgramName, print.ShellQuote(o.targetProcessID))
	}
	if err != nil {
		return err
	}
	u, err := l.planAndConfirmUndo(ctx, o, options)
	if u != nil {
		if err = l.startAndFollowUndo(ctx, u, o); !client.IsUndoUnderWay(err) {
			return err
		}
	}
	if wasPaused {
		// the person may have interrupted
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), serverAnswerTimeout)
		defer cancel()
		if session.ResumeWithoutUndo(ctx, o.targetProcessID, options) == nil {
			a.Note("nothing of %s is taken back: it goes on", o.targetProcessID)
		}
	}
	return err
}

// planAndConfirmUndo shows what is to be taken back, and asks. It returns nil if there is nothing to take back.
func (l *launchedProcess) planAndConfirmUndo(ctx context.Context, o undoOptions, options client.UndoOptions) (
	u *client.UndoPlan, err error) {
	u, err = l.session.PlanUndo(ctx, o.targetProcessID, options)
	switch {
	case err != nil:
		return nil, err
	case !u.IsEmpty() && !l.WritesJSON:
		err = l.Print(undoPlanText(u))
	case !u.IsEmpty():
	case !o.isBeforeFork:
		_, err = l.session.StartUndo(ctx, u) // its error says that there is nothing to undo
		return nil, err
	default:
		if len(u.IrreversibleCalls) > 0 {
			l.Note("nothing of %s is taken back; what cannot be: %s", o.targetProcessID,
				diag.SummarizeNames(notUndoneTexts(u.IrreversibleCalls)))
		}
		return nil, nil
	}
	if err == nil {
		err = confirmUndo(l.App, u, o.isConfirmed)
	}
	if err != nil {
		return nil, err
	}
	return u, nil
}

// startAndFollowUndo takes back what was agreed to.
func (l *launchedProcess) startAndFollowUndo(ctx context.Context, u *client.UndoPlan, o undoOptions) (err error) {
	if l.process, err = l.session.StartUndo(ctx, u); err != nil {
		return err
	}
	switch {
	case u.IsUnderWay && o.isDetached:
		return l.Show(u, undoUnderWayText(u))
	case u.IsUnderWay:
		return cmp.Or(l.Show(u, undoUnderWayText(u)), exit.WithCode(exit.Paused))
	case u.UndoProcessID == u.ProcessID:
		return l.Show(u, fmt.Sprintf("%s: %s taken back; it is paused\n", u.UndoProcessID,
			print.PluralWithVerb(max(len(u.Steps), len(u.CallIDsToWithdraw)), "Call")))
	}
	l.noteWhatRuns()
	if o.isDetached {
		return l.Show(u,
			fmt.Sprintf("%s: running; to follow it: %s watch %s\n", u.UndoProcessID, print.ProgramName,
				print.ShellQuote(u.UndoProcessID)))
	}
	result, err := l.follow(ctx)
	if err != nil || o.isBeforeFork && result.Status == loop.StatusCompleted {
		return err
	}
	return l.PrintResult(result, print.InstanceNaming{})
}

// undoUnderWayText says that a running process is still taking back, and what it waits for.
func undoUnderWayText(u *client.UndoPlan) string {
	text := u.UndoProcessID + ": it takes back still; it is paused"
	if len(u.WaitingCallIDs) > 0 {
		text = fmt.Sprintf("%s: it takes back once a person has decided on %s: %s approvals %s", u.UndoProcessID,
			diag.SummarizeNames(u.WaitingCallIDs), print.ProgramName, print.ShellQuote(u.UndoProcessID))
	}
	return print.Printable(text) + "\n"
}

// undoBeforeFork takes back what a process did after the Idea at which it is forked.
func undoBeforeFork(ctx context.Context, a *app.App, o forkOptions) error {
	if o.undoActor.Name = cmp.Or(o.undoActor.Name, app.UserName()); o.undoActor.Reason == "" {
		return exit.Usagef("fork %s --undo: --reason is missing: say why, for the record", o.sourceProcessID)
	}
	return undoProcess(ctx, a, undoOptions{
		launchOptions:   launchOptions{hostOptions: o.hostOptions, deciderGroups: o.deciderGroups},
		targetProcessID: o.sourceProcessID,
		selection:       undo.Selection{AfterIdeaNumber: o.ideaNumber},
		actor:           o.undoActor, isConfirmed: o.isConfirmed,
		isBeforeFork: true,
	})
}

// planUndo returns what would be taken back. If no server answers in time, it reads that from the store, which does not
// know which process would do it.
func planUndo(ctx context.Context, a *app.App, id string, o client.UndoOptions) (u *client.UndoPlan, err error) {
	queryCtx, cancel := context.WithTimeout(ctx, serverAnswerTimeout)
	defer cancel()
	sessionErr := a.WithSession(queryCtx, func(s *server.Session) error {
		u, err = s.PlanUndo(queryCtx, id, o)
		return nil
	})
	if sessionErr == nil && !errors.Is(err, client.ErrUnreachable) && queryCtx.Err() == nil {
		return u, err
	}
	a.Note("no server answers: if %s is at work, it is paused first, and takes back by itself", id)
	return u, a.WithArchive(ctx, func(archive *client.Archive) (err error) {
		u, err = archive.PlanUndo(ctx, id, o)
		return err
	})
}

// serverAnswerTimeout is the maximum wait for a server that knows whether a process is at work.
const serverAnswerTimeout = 5 * time.Second

// confirmUndo asks whether to take Calls back. It returns an error unless the answer is yes.
func confirmUndo(a *app.App, u *client.UndoPlan, isConfirmed bool) error {
	if isConfirmed {
		return nil
	}
	hasAgreed, wasAsked := a.Ask(fmt.Sprintf("take back %s as %s? [y]es, [n]o: ", print.Plural(len(u.Steps), "Call"),
		u.UndoProcessID))
	switch {
	case !wasAsked:
		return exit.Usagef("undo %s: nothing was undone: repeat with --yes to undo it", u.ProcessID)
	case !hasAgreed:
		return exit.Usagef("undo %s: nothing was undone", u.ProcessID)
	}
	return nil
}

// undoPlanText says what would be taken back, what cannot be, and what stays.
func undoPlanText(u *client.UndoPlan) string {
	var b strings.Builder
	print.Fprintf(&b, "of %s, %s would be taken back, as %s\n", u.ProcessID,
		print.Plural(len(u.Steps), "Call"), u.UndoProcessID)
	writeUndoSteps(&b, u.Steps, "  ")
	for _, list := range []struct {
		heading string
		calls   []undo.NotUndoneCall
	}{{"cannot be taken back:", u.IrreversibleCalls}, {"stays:", u.KeptCalls}} {
		if len(list.calls) > 0 {
			fmt.Fprintln(&b, list.heading)
		}
		for _, l := range list.calls {
			print.Fprintf(&b, "  %s: %s\n", l.OriginalCall.Name(), l.Reason)
			if delegateID := l.DelegateProcessIDToUndo(); delegateID != "" {
				print.Fprintf(&b, "    %s undo %s --reason TEXT\n", print.ProgramName, print.ShellQuote(delegateID))
			}
		}
	}
	if u.IsProcessOpen && len(u.CallIDsToWithdraw) > 0 {
		print.Fprintf(&b, "withdrawn from State, since they left nothing else: %s\n",
			diag.SummarizeNames(u.CallIDsToWithdraw))
	}
	return b.String()
}

// notUndoneTexts says for each Call why it is not taken back.
func notUndoneTexts(list []undo.NotUndoneCall) (texts []string) {
	for _, l := range list {
		texts = append(texts, l.OriginalCall.Name()+": "+l.Reason)
	}
	return texts
}

// writeUndoSteps lists steps. A step that takes a process back is followed by that process's steps, indented.
func writeUndoSteps(b *strings.Builder, steps []undo.Step, indent string) {
	for _, s := range steps {
		if s.DelegateUndo == nil {
			print.Fprintf(b, "%s%s by %s %s\n", indent, s.OriginalCall.Name(), s.Tool, jsonval.EncodeToString(s.Params))
			continue
		}
		print.Fprintf(b, "%s%s by what takes back %s:\n", indent, s.OriginalCall.Name(), s.DelegateUndo.ProcessID)
		writeUndoSteps(b, s.DelegateUndo.Steps, indent+"  ")
		for _, l := range s.DelegateUndo.KeptCalls {
			print.Fprintf(b, "%s  %s stays: %s\n", indent, l.OriginalCall.Name(), l.Reason)
		}
	}
}
