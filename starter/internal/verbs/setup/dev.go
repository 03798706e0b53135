package setup

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"processidea/starter/internal/app"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
	"processidea/store/encryption"
	"processidea/store/signing"
)

// Dev runs an embedded Temporal server, its web UI and a worker until stopped.
func Dev(a *app.App) *cobra.Command {
	var h server.HostOptions
	c := app.NewCommand("dev", "Run an embedded Temporal server, its web UI and a worker until stopped",
		`Run an embedded Temporal server, its web UI and a worker until stopped by Ctrl-C.
The other verbs find it from the same working directory, and from elsewhere by the
variables that it prints. Processes that were left go on.`,
		`  starter dev
  starter dev --port 7233 --ui-port 8233
  starter dev --worker=false`,
		func(ctx context.Context, _ []string) error {
			p, err := a.Place()
			if err != nil {
				return err
			}
			h.WarnOnTerminal = true
			s, err := p.HostServerExclusively(ctx, h)
			if err != nil {
				return err
			}
			defer s.Close()
			if err := printServerInfo(a, s, h); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		})
	app.AddHostingFlags(c, &h)
	c.Flags().BoolVar(&h.RunsWorker, "worker", true, "run a worker too")
	return c
}

// printServerInfo says where the server is. With --json, that is the verb's result.
func printServerInfo(a *app.App, s *server.Session, h server.HostOptions) error {
	info, _ := s.Place.RunningServer()
	if a.WritesJSON {
		return a.PrintJSON(info)
	}
	a.Note("Temporal is at %s, its data in %s", info.Address, s.Place.DataFolder)
	a.Note("the worker's log is %s; its warnings appear here too", s.Place.LogPath())
	if info.UIURL != "" {
		a.Note("its web UI is at %s", info.UIURL)
	}
	if info.GatewayURL != "" {
		a.Note("its desk and HTTP API are at %s", info.GatewayURL)
	}
	a.Note("to use it from elsewhere: export TEMPORAL_ADDRESS=%s PROCESSIDEA_STORE=%s", info.Address,
		print.ShellQuote(info.StorePlace))
	keyID := s.Archive().Store().Keys().PrimaryID()
	if keyID != "" {
		a.Note("everything is encrypted with key %s: other programs need %s", keyID, encryption.KeysVariable)
	}
	switch {
	case !h.RunsWorker:
		a.Note("no worker runs; start one with the variables above")
	case info.HasLLM:
		a.Note("a worker runs, and asks the LLM that the environment names")
	default:
		a.Note("a worker runs, but no LLM is configured: processes need recorded replies (OPENAI_API_KEY and " +
			"OPENAI_BASE_URL are not set)")
	}
	if decidersFile := os.Getenv(signing.DecidersVariable); h.RunsWorker && decidersFile != "" {
		a.Note("signed decisions are checked with the keys in %s", decidersFile)
	}
	a.Note("stop with Ctrl-C")
	return nil
}
