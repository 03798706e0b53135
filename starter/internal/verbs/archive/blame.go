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
	at, v := 0, valueFormat{}
	c := app.Verb("blame ID PATH", "Say which Call or person wrote a value of a process's State",
		`Say which Call or person wrote a value of a process's State, when, with which
parameters, and which Idea shows what the LLM had seen. PATH is a path in the State
of an instance: ①:user.name, or user.name where there is only one without a name.
It is read from the store; no server is needed.`,
		`  starter blame moderation-3 ①:sentiment
  starter blame refund-17 amount --at 2 --json`,
		func(ctx context.Context, args []string) error { return runBlame(ctx, a, args[0], args[1], at, v) })
	flags.Int(c.Flags(), &at, "at", 1, jsonval.MaxCount,
		"`number` of the Idea that shows the value, from 1 (default the latest)")
	v.addFlag(c)
	return c
}

func runBlame(ctx context.Context, a *app.App, id, path string, at int, v valueFormat) error {
	return a.WithArchive(ctx, func(archive *client.Archive) error {
		b, err := archive.Chain(id).Blame(ctx, path, at)
		if err != nil {
			return err
		}
		undone, err := undoneCall(ctx, archive, id, path, b)
		if err != nil {
			return err
		}
		return a.Show(blameReport{b, undone}, v.blameText(b)+undoneText(undone))
	})
}

// blameReport says who wrote a value. Undone says how that Call was undone; it is nil if the Call was not undone.
type blameReport struct {
	*chain.Blame
	Undone *client.UndoneCall `json:"undone,omitempty"`
}

// undoneCall finds out how the Call that wrote a value was undone, in this process or in the one it was forked from.
func undoneCall(ctx context.Context, archive *client.Archive, id, path string, b *chain.Blame) (
	u *client.UndoneCall, err error) {
	if b.Call == nil && b.Found != nil {
		b, err = archive.Chain(b.Found.Process).Blame(ctx, path, b.Found.Idea)
	}
	if err != nil || b.Call == nil {
		return nil, err
	}
	undone, err := archive.Chain(id).UndoneCalls(ctx)
	for n := range undone {
		if undone[n].CallID == b.Call.ID {
			return &undone[n], nil
		}
	}
	return nil, err
}

func undoneText(t *client.UndoneCall) string {
	if t == nil {
		return ""
	}
	text := fmt.Sprintf("%s is undone by %s, for %s: %s", t.CallID, t.As, t.By, t.Reason)
	if when, err := time.Parse(time.RFC3339Nano, t.When); err == nil {
		text += ", " + when.Local().Format(time.DateTime)
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
	if b.Removed {
		value = "nothing any more"
	}
	fmt.Fprintf(&t, "%s of %s, Idea %d: %s\n", print.Printable(place), print.Printable(b.Process), b.Idea, value)
	switch {
	case b.Last != nil:
		fmt.Fprintf(&t, "written %s\n", v.writtenText(*b.Last))
	case b.By == chain.ByStart:
		t.WriteString("it was there from the beginning\n")
	default:
		fmt.Fprintf(&t, "the log does not say who wrote it; Idea %d is the first that shows it\n", b.Since)
	}
	if o, ok := b.Origin.(jsonval.Object); ok {
		fmt.Fprintf(&t, "the process was %s", originText(o))
		if f := b.Found; f != nil {
			print.Fprintf(&t, "it is in Idea %d of %s; to see who wrote it there: %s blame %s %s --at %d\n",
				f.Idea, f.Process, print.Program, print.Quote(f.Process), print.Quote(place), f.Idea)
		} else {
			t.WriteString(
				"that Idea does not have it, or is no longer in the store: the fork's author may have set it\n")
		}
	}
	for _, d := range b.Decisions {
		t.WriteString(decisionText(d) + "\n")
		for _, line := range v.changeText(d) {
			fmt.Fprintf(&t, "  %s\n", line)
		}
	}
	if b.Call != nil {
		v.writeProposed(&t, b)
	}
	if a := b.ParamsAdaptation; a != nil {
		fmt.Fprintf(&t, "the LLM adapted the parameters to the tool: from %s to %s, because %s\n",
			v.text(a.OriginalParams), v.text(a.AdaptedParams), print.Printable(a.Reason))
	}
	for _, w := range b.Earlier {
		fmt.Fprintf(&t, "earlier %s\n", v.writtenText(w))
	}
	fmt.Fprintf(&t, "Idea %d was %s\n", b.Idea, sealedText(b.Sealed))
	return t.String()
}

// writtenText says who wrote what, and when.
func (v valueFormat) writtenText(w chain.Written) string {
	how := "by " + print.Printable(w.By)
	if !w.When.IsZero() {
		how += ", " + w.When.Local().Format(time.DateTime)
	}
	if w.Method != "" {
		how += ", " + w.Method
	}
	path := w.Path
	if path == "" {
		path = "the whole State"
	}
	return fmt.Sprintf("%s: %s = %s (log of Idea %d)", how, print.Printable(path), v.text(w.Value), w.Idea)
}

func decisionText(d approval.Decision) string {
	text := print.Printable("decided by " + deciderText(d) + ": " + d.Kind + reasonText(d))
	if !d.DecidedAt.IsZero() {
		text += ", " + d.DecidedAt.Local().Format(time.DateTime)
	}
	return text
}

func (v valueFormat) writeProposed(t *strings.Builder, b *chain.Blame) {
	c := b.Call
	print.Fprintf(t, "call %s of Request %d: %s\n", c.ID, c.Request, c.Tool)
	if c.Written != nil {
		fmt.Fprintf(t, "  planned: %s\n", v.text(c.Written))
	}
	if c.Ran != nil {
		fmt.Fprintf(t, "  ran: %s\n", v.callText(c.Ran.Tool, c.Ran.Params))
	}
	for _, r := range c.Reads {
		value := "nothing"
		if r.Found {
			value = v.text(r.Value)
		}
		fmt.Fprintf(t, "  %s is %s (in Idea %d)\n", print.Printable(r.Reference), value, b.Last.Idea)
	}
	if c.SeenIdea > 0 {
		fmt.Fprintf(t, "what the LLM had seen: %s show %s --at %d\n", print.Program,
			print.Quote(cmp.Or(c.Part, b.Process)), c.SeenIdea)
	}
}
