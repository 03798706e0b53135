package archive

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/internal/flags"
	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/print"
	"processidea/store/chain"
)

// Blame says which Call or person wrote a value.
func Blame(a *app.App) *cobra.Command {
	ideaNumber, v := 0, valueFormat{}
	c := app.NewCommand("blame ID PATH", "Say which Call or person wrote a value of a process's State",
		`Say which Call or person wrote a value of a process's State, when, with which
parameters, and which Idea shows what the LLM had seen. PATH is a path in the State
of an instance: ①:user.name, or user.name where there is only one without a name.
It is read from the store; no server is needed.`,
		`  starter blame moderation-3 ①:sentiment
  starter blame refund-17 amount --at 2 --json`,
		func(ctx context.Context, args []string) error {
			return a.WithArchive(ctx, func(archive *client.Archive) error {
				b, err := archive.Chain(args[0]).Blame(ctx, args[1], ideaNumber)
				if err != nil {
					return err
				}
				undoneCall, err := findUndoneCall(ctx, archive, args[0], args[1], b)
				if err != nil {
					return err
				}
				return a.Show(blameReport{b, undoneCall}, v.blameText(b)+undoneCallText(undoneCall))
			})
		})
	flags.Int(c.Flags(), &ideaNumber, "at", 1, jsonval.MaxCount,
		"`number` of the Idea that shows the value, from 1 (default the latest)")
	v.addFlag(c)
	return c
}

// blameReport says who wrote a value. UndoneCall says how that Call was undone; it is nil if the Call was not undone.
type blameReport struct {
	*chain.Blame
	UndoneCall *client.UndoneCall `json:"undone,omitempty"`
}

// findUndoneCall finds out how the Call that wrote a value was undone, in this process or in the one it was forked
// from.
func findUndoneCall(ctx context.Context, archive *client.Archive, id, path string, b *chain.Blame) (
	undoneCall *client.UndoneCall, err error) {
	if b.Call == nil && b.FoundInOriginIdea != nil {
		b, err = archive.Chain(b.FoundInOriginIdea.Process).Blame(ctx, path, b.FoundInOriginIdea.IdeaNumber)
	}
	if err != nil || b.Call == nil {
		return nil, err
	}
	undoneCalls, err := archive.Chain(id).UndoneCalls(ctx)
	for n := range undoneCalls {
		if undoneCalls[n].CallID == b.Call.ID {
			return &undoneCalls[n], nil
		}
	}
	return nil, err
}

func undoneCallText(undoneCall *client.UndoneCall) string {
	if undoneCall == nil {
		return ""
	}
	text := fmt.Sprintf("%s is undone by %s, for %s: %s", undoneCall.CallID, undoneCall.UndoID, undoneCall.By,
		undoneCall.Reason)
	if undoneAt, err := time.Parse(time.RFC3339Nano, undoneCall.UndoneAt); err == nil {
		text += ", " + undoneAt.Local().Format(time.DateTime)
	}
	return print.Printable(text) + "\n"
}

func (v valueFormat) blameText(b *chain.Blame) string {
	var t strings.Builder
	place := b.Path
	if b.Instance != "" {
		place = b.Instance + ":" + place
	}
	value := v.text(b.Value)
	if b.IsRemoved {
		value = "nothing any more"
	}
	fmt.Fprintf(&t, "%s of %s, Idea %d: %s\n", print.Printable(place), print.Printable(b.Process), b.AsOfIdeaNumber,
		value)
	switch {
	case b.LastWrite != nil:
		fmt.Fprintf(&t, "written %s\n", v.writtenText(*b.LastWrite))
	case b.Author == chain.AuthorStart:
		t.WriteString("it was there from the beginning\n")
	default:
		fmt.Fprintf(&t, "the log does not say who wrote it; Idea %d is the first that shows it\n",
			b.ShownSinceIdeaNumber)
	}
	if o, ok := b.ForkOrigin.(jsonval.Object); ok {
		fmt.Fprintf(&t, "the process was %s", originText(o))
		if f := b.FoundInOriginIdea; f != nil {
			print.Fprintf(&t, "it is in Idea %d of %s; to see who wrote it there: %s blame %s %s --at %d\n",
				f.IdeaNumber, f.Process, print.ProgramName, print.ShellQuote(f.Process), print.ShellQuote(place),
				f.IdeaNumber)
		} else {
			t.WriteString(
				"that Idea does not have it, or is no longer in the store: the fork's author may have set it\n")
		}
	}
	for _, d := range b.Decisions {
		t.WriteString(decisionText(d) + "\n")
		for _, line := range v.decisionDetailLines(d) {
			fmt.Fprintf(&t, "  %s\n", line)
		}
	}
	if b.Call != nil {
		v.writeCallDetails(&t, b)
	}
	if a := b.ParamsAdaptation; a != nil {
		fmt.Fprintf(&t, "the LLM adapted the parameters to the tool: from %s to %s, because %s\n",
			v.text(a.OriginalParams), v.text(a.AdaptedParams), print.Printable(a.MisfitReason))
	}
	for _, w := range b.EarlierWrites {
		fmt.Fprintf(&t, "earlier %s\n", v.writtenText(w))
	}
	fmt.Fprintf(&t, "Idea %d was %s\n", b.AsOfIdeaNumber, sealedText(b.AsOfSealedAt))
	return t.String()
}

// writtenText says who wrote what, and when.
func (v valueFormat) writtenText(w chain.LoggedWrite) string {
	details := "by " + print.Printable(w.Author)
	if !w.WrittenAt.IsZero() {
		details += ", " + w.WrittenAt.Local().Format(time.DateTime)
	}
	if w.Method != "" {
		details += ", " + w.Method
	}
	path := w.Path
	if path == "" {
		path = "the whole State"
	}
	return fmt.Sprintf("%s: %s = %s (log of Idea %d)", details, print.Printable(path), v.text(w.Value), w.IdeaNumber)
}

func decisionText(d approval.Decision) string {
	text := print.Printable("decided by " + deciderText(d) + ": " + d.Kind + proofAndReasonText(d))
	if !d.DecidedAt.IsZero() {
		text += ", " + d.DecidedAt.Local().Format(time.DateTime)
	}
	return text
}

func (v valueFormat) writeCallDetails(out *strings.Builder, b *chain.Blame) {
	c := b.Call
	print.Fprintf(out, "call %s of Request %d: %s\n", c.ID, c.RequestNumber, c.Tool)
	if c.ProposedJSON != nil {
		fmt.Fprintf(out, "  planned: %s\n", v.text(c.ProposedJSON))
	}
	if c.ExecutedCall != nil {
		fmt.Fprintf(out, "  ran: %s\n", v.callText(c.ExecutedCall.Tool, c.ExecutedCall.Params))
	}
	for _, r := range c.ResolvedReferences {
		value := "nothing"
		if r.Exists {
			value = v.text(r.Value)
		}
		fmt.Fprintf(out, "  %s is %s (in Idea %d)\n", print.Printable(r.Reference), value, b.LastWrite.IdeaNumber)
	}
	if c.SeenIdeaNumber > 0 {
		fmt.Fprintf(out, "what the LLM had seen: %s show %s --at %d\n", print.ProgramName,
			print.ShellQuote(cmp.Or(c.PartProcessID, b.Process)), c.SeenIdeaNumber)
	}
}
