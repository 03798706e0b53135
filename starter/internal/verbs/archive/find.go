package archive

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/find"
	"processidea/starter/internal/app"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

// Find says which processes hold a text.
func Find(a *app.App) *cobra.Command {
	storeOnly := false
	c := app.Verb("find TEXT", "Say which processes and instances hold a text",
		`Look for a text, such as the name of somebody who asks to be forgotten, in upper or lower
case: in all Ideas of the store (inputs, States, parameters, outputs, notes, errors, who
decided and why), in all histories that Temporal has of the namespace, and in what schedules
start processes from. Each process or instance that holds the text gets one line, with the
parts and the Ideas; with --json, one line of JSON. The exit code is 0 either way.

It reads the whole store, one Idea or one page of a history at a time. It does not find
other spellings. Prompts are not kept. Logs, exports, traces and what left the process are
not searched. --store-only does not ask Temporal.`,
		`  starter find "ada@example.com"
  starter find 4711 --json --store /backup/store --store-only`,
		func(ctx context.Context, args []string) error {
			o := find.Options{
				OnFound:  func(h find.Held) error { return printHeld(a, h) },
				OnUnread: func(what string) { a.Note("not read: %s", what) },
			}
			ideas := func(archive *client.Archive) error { return find.SearchIdeas(ctx, archive, args[0], o) }
			if storeOnly {
				return a.WithArchive(ctx, ideas)
			}
			return findAll(ctx, a, args[0], ideas, o)
		})
	c.Flags().BoolVar(&storeOnly, "store-only", false, "look at the store alone, and do not ask Temporal")
	return c
}

func findAll(ctx context.Context, a *app.App, text string, ideas func(*client.Archive) error, o find.Options) error {
	p, err := a.Place()
	if err != nil {
		return err
	}
	s, err := p.OpenSession(ctx, server.Hosting{UIPort: -1, GatewayPort: -1})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := ideas(s.Archive()); err != nil {
		return err
	}
	return find.SearchHistories(ctx, s.Client, text, o)
}

func printHeld(a *app.App, h find.Held) error {
	if a.JSON {
		line, err := json.Marshal(h)
		if err != nil {
			return err
		}
		return a.Print(string(line) + "\n")
	}
	if h.Schedule != "" {
		return a.Print(fmt.Sprintf("schedule %s: what it starts processes from\n", print.Printable(h.Schedule)))
	}
	who := print.Printable(h.Process)
	if h.Instance != "" {
		who = print.Printable(h.Instance) + " of " + who
	}
	where := print.Printable(strings.Join(h.Parts, ", "))
	switch {
	case h.Last == 0 && h.Parts[0] == "history":
		where += " in Temporal"
	case h.Last > 0 && h.First == h.Last:
		where += fmt.Sprintf(" in Idea %d", h.First)
	case h.Last > 0:
		where += fmt.Sprintf(" in Ideas %d to %d", h.First, h.Last)
	}
	return a.Print(who + ": " + where + "\n")
}
