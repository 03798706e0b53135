package setup

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/feed"
	gateway "processidea/gateway/mcp"
	gatewayserver "processidea/gateway/server"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/server"
)

// MCP serves agents on the standard streams.
func MCP(a *app.App) *cobra.Command {
	h := server.HostOptions{RunsWorker: true}
	allowDecisions := false
	c := app.NewCommand("mcp [FOLDER]", "Serve agents, by the Model Context Protocol on the standard streams",
		`Serve agents by the Model Context Protocol on the standard streams. Each Idea file of the
folder is a tool that starts a process; other tools look at processes, compare their Ideas,
fork and simulate them. It uses the server that runs in the data folder, or starts one, as
run does. The gateway does the same over HTTP, at /mcp.

Agents decide only with --approvals, and never where a policy wants a signed decision.`,
		`  starter mcp processes/
  starter mcp processes/ --approvals`,
		func(ctx context.Context, args []string) error {
			folder := os.Getenv(gatewayserver.IdeaFolderVariable)
			if len(args) > 0 {
				folder = args[0]
			}
			return serveAgents(ctx, a, h, folder, allowDecisions)
		})
	app.AddHostingFlags(c, &h)
	c.Flags().BoolVar(&allowDecisions, "approvals", false, "let agents decide on Calls, as you")
	return c
}

func serveAgents(ctx context.Context, a *app.App, h server.HostOptions, ideaFolder string, allowDecisions bool) error {
	if ideaFolder != "" {
		if info, err := os.Stat(ideaFolder); err != nil || !info.IsDir() {
			return exit.Usagef("mcp %s: it is not a folder", ideaFolder)
		}
	}
	p, err := a.Place()
	if err != nil {
		return err
	}
	s, err := p.OpenSession(ctx, h)
	if err != nil {
		return err
	}
	defer s.Close()
	person := gatewayserver.SystemUser(os.Getenv)
	person.Rights = access.AllRights
	agentServer := &gateway.Server{IdeaFolder: ideaFolder, AllowDecisions: allowDecisions, API: api.New(api.Options{
		Client: s.Client, Feed: feed.NewForClient(s.Client), Tools: p.Tools(),
		Log: slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})}
	err = agentServer.ServerForPerson(&person).Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(a.In),
		Writer: nopCloser{a.Out}})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
