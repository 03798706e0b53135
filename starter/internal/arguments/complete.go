package arguments

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/model/ideafile"
	"processidea/starter/internal/app"
	"processidea/starter/internal/server"
)

// A person waits at the keyboard during a completion, and reads only so many words.
const (
	completionTimeout = 2 * time.Second
	maxCompletions    = 500
)

// argumentCompleter completes the argument after those already typed: a process's id, a Call that waits in it, or a
// file.
func argumentCompleter(a *app.App, expected []argument) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		quietApp := *a
		quietApp.Err = io.Discard // messages must not mix with the words
		if len(expected) > 0 && len(args) >= len(expected) && expected[len(expected)-1].isRepeated {
			args = args[:len(expected)-1]
		}
		if len(args) >= len(expected) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(c.Context(), completionTimeout)
		defer cancel()
		var words []string
		directive := cobra.ShellCompDirectiveNoFileComp
		for argumentKind := range strings.SplitSeq(expected[len(args)].name, "|") {
			switch argumentKind {
			case "ID":
				words = append(words, listProcessIDs(ctx, &quietApp)...)
			case "CALL":
				words = append(words, listWaitingCallIDs(ctx, &quietApp, args[0])...)
			case "FILE", "FOLDER":
				directive = cobra.ShellCompDirectiveDefault
			}
		}
		words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, prefix) })
		return words[:min(len(words), maxCompletions)], directive
	}
}

// listProcessIDs lists the ids of processes, the latest first: from Temporal, or from the store if Temporal does not
// answer.
func listProcessIDs(ctx context.Context, a *app.App) (ids []string) {
	err := a.WithSession(ctx, func(s *server.Session) error {
		page, err := s.ListPage(ctx, client.ProcessFilter{}, maxCompletions, nil)
		for _, p := range page.Processes {
			ids = append(ids, p.ProcessID)
		}
		return err
	})
	if err != nil {
		_ = a.WithArchive(ctx, func(archive *client.Archive) error {
			ids, err = archive.ProcessIDs(ctx)
			return err
		})
	}
	return ids
}

// listWaitingCallIDs lists the Calls of a process that wait for a person.
func listWaitingCallIDs(ctx context.Context, a *app.App, processID string) (callIDs []string) {
	_ = a.WithProcess(ctx, processID, func(p *client.Process) error {
		pendingApprovals, err := p.Approvals(ctx)
		for _, w := range pendingApprovals {
			callIDs = append(callIDs, ideafile.TypeableCallID(w.CallID))
		}
		return err
	})
	return callIDs
}
