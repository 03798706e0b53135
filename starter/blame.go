package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"processidea/model/turn"
	"processidea/store/chain"
)

func (a *app) blameVerb() *cobra.Command {
	at := 0
	c := &cobra.Command{
		Use:   "blame ID PATH",
		Short: "Say which Call or person wrote a value of a process's State",
		Long: `Say which Call or person wrote a value of a process's State, when, with which
parameters, and which Idea shows what the LLM had seen. PATH is a path in the State
of an instance: ①:user.name, or user.name where there is only one without a name.
It is read from the store; no server is needed.`,
		Example: `  starter blame moderation-3 ①:sentiment
  starter blame refund-17 amount --at 2 --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error { return a.blame(c.Context(), args[0], args[1], at) },
	}
	c.Flags().IntVar(&at, "at", 0, "`number` of the Idea that shows the value, from 1 (default the latest)")
	return c
}

func (a *app) blame(ctx context.Context, id, path string, at int) error {
	return a.read(ctx, func(c *archive) error {
		at, err := c.number(ctx, "look at", id, at)
		if err != nil {
			return err
		}
		b, err := c.Blame(ctx, id, path, at)
		switch {
		case err != nil:
			return asked(err)
		case a.json:
			return writeJSON(a.out, b)
		}
		_, err = fmt.Fprint(a.out, blameText(b))
		return err
	})
}

func blameText(b *chain.Blame) string {
	var t strings.Builder
	place := b.Path
	if b.Instance != "" {
		place = b.Instance + ":" + place
	}
	fmt.Fprintf(&t, "%s of %s, Idea %d: %s\n", printable(place), printable(b.Process), b.Idea, shown(b.Value))
	switch {
	case b.Last != nil:
		fmt.Fprintf(&t, "written %s\n", writtenText(*b.Last))
	case b.By == chain.ByStart:
		t.WriteString("it stood there from the beginning\n")
	default:
		fmt.Fprintf(&t, "the log does not say who wrote it; Idea %d is the first that shows it\n", b.Since)
	}
	if o, ok := b.Origin.(map[string]any); ok {
		from, _ := o["process"].(string)
		fmt.Fprintf(&t, "the process was %swho wrote it there: starter blame %s %s --at %s\n", originText(o), quote(from), quote(place), shown(o["at"]))
	}
	if d := b.Decision; d != nil {
		fmt.Fprintf(&t, "%s\n", decisionText(d))
	}
	if b.Call != nil {
		writeProposed(&t, b)
	}
	if b.Adapted != nil {
		fmt.Fprintf(&t, "fitted to the tool by the LLM: %s to %s, as %s\n", shown(b.Adapted.From), shown(b.Adapted.To), printable(b.Adapted.Reason))
	}
	for _, w := range b.Earlier {
		fmt.Fprintf(&t, "earlier %s\n", writtenText(w))
	}
	return t.String()
}

// writtenText says who wrote, when and what.
func writtenText(w chain.Written) string {
	how := "by " + printable(w.By)
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
	return fmt.Sprintf("%s: %s = %s (log of Idea %d)", how, printable(path), shown(w.Value), w.Idea)
}

func decisionText(d *turn.LogDecision) string {
	text := printable("decided by " + d.By + ": " + d.Kind)
	if d.Reason != "" {
		text += printable(", because " + d.Reason)
	}
	if !d.At.IsZero() {
		text += ", " + d.At.Local().Format(time.DateTime)
	}
	return text
}

func writeProposed(t *strings.Builder, b *chain.Blame) {
	c := b.Call
	fmt.Fprintf(t, "call %s of Request %d: %s\n", printable(c.ID), c.Request, printable(c.Tool))
	if c.Written != nil {
		fmt.Fprintf(t, "  %s\n", shown(c.Written))
	}
	for _, r := range c.Reads {
		value := "nothing"
		if r.Found {
			value = shown(r.Value)
		}
		fmt.Fprintf(t, "  %s is %s (in Idea %d)\n", printable(r.Reference), value, b.Last.Idea)
	}
	if c.Saw > 0 {
		fmt.Fprintf(t, "what the LLM had seen: starter show %s --at %d\n", quote(b.Process), c.Saw)
	}
}
