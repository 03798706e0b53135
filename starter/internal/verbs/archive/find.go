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
	isStoreOnly := false
	c := app.NewCommand("find TEXT", "Say which processes and instances hold a text",
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
				OnFound:      func(finding find.Finding) error { return printTextFinding(a, finding) },
				OnUnreadable: func(description string) { a.Note("not read: %s", description) },
			}
			searchStore := func(archive *client.Archive) error { return find.SearchIdeas(ctx, archive, args[0], o) }
			if isStoreOnly {
				return a.WithArchive(ctx, searchStore)
			}
			return findInStoreAndTemporal(ctx, a, args[0], searchStore, o)
		})
	c.Flags().BoolVar(&isStoreOnly, "store-only", false, "look at the store alone, and do not ask Temporal")
	return c
}

func findInStoreAndTemporal(ctx context.Context, a *app.App, text string, searchStore func(*client.Archive) error,
	o find.Options) error {
	p, err := a.Place()
	if err != nil {
		return err
	}
	s, err := p.OpenSession(ctx, server.HostOptions{UIPort: -1, GatewayPort: -1})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := searchStore(s.Archive()); err != nil {
		return err
	}
	return find.SearchHistories(ctx, s.Client, text, o)
}

func printTextFinding(a *app.App, finding find.Finding) error {
	if a.WritesJSON {
		line, err := json.Marshal(finding)
		if err != nil {
			return err
		}
		return a.Print(string(line) + "\n")
	}
	if finding.ScheduleID != "" {
		return a.Print(fmt.Sprintf("schedule %s: what it starts processes from\n", print.Printable(finding.ScheduleID)))
	}
	subject := print.Printable(finding.ProcessID)
	if finding.Instance != "" {
		subject = print.Printable(finding.Instance) + " of " + subject
	}
	place := print.Printable(strings.Join(finding.Paths, ", "))
	switch {
	case finding.LastIdeaNumber == 0 && finding.Paths[0] == "history":
		place += " in Temporal"
	case finding.LastIdeaNumber > 0 && finding.FirstIdeaNumber == finding.LastIdeaNumber:
		place += fmt.Sprintf(" in Idea %d", finding.FirstIdeaNumber)
	case finding.LastIdeaNumber > 0:
		place += fmt.Sprintf(" in Ideas %d to %d", finding.FirstIdeaNumber, finding.LastIdeaNumber)
	}
	return a.Print(subject + ": " + place + "\n")
}
