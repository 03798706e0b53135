package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"processidea/store/encryption"
)

func (a *app) devVerb() *cobra.Command {
	var h hosting
	c := &cobra.Command{
		Use:   "dev",
		Short: "Run an embedded Temporal server, its web UI and a worker until stopped",
		Long: `Run an embedded Temporal server, its web UI and a worker until stopped by Ctrl-C.
The other verbs find it from the same working directory, and from elsewhere by the
variables that it prints. Processes that were left go on.`,
		Example: `  starter dev
  starter dev --port 7233 --ui-port 8233
  starter dev --worker=false`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.dev(c.Context(), h) },
	}
	hostingFlags(c, &h)
	c.Flags().BoolVar(&h.worker, "worker", true, "run a worker too")
	return c
}

func (a *app) dev(ctx context.Context, h hosting) error {
	p, err := a.place()
	if err != nil {
		return err
	}
	if h.port < 0 {
		return misuse("listen on port %d: it is negative", h.port)
	}
	s, err := p.hostAlone(ctx, h)
	if err != nil {
		return err
	}
	defer s.close()
	if err := a.introduceServer(s, h); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// hostAlone runs a server on the folder, and refuses where another program does. One that is just stopping is waited
// for.
func (p place) hostAlone(ctx context.Context, h hosting) (*session, error) {
	if err := os.MkdirAll(p.data, 0o700); err != nil {
		return nil, misuse("make data folder: %w", err)
	}
	for wait := time.Duration(0); wait < patience; wait += pollEvery {
		unlock, ok, err := p.lock()
		if err != nil {
			return nil, noServer("lock %s: %w", p.data, err)
		}
		if ok {
			return p.host(ctx, unlock, h)
		}
		if n, ok := p.neighbour(); ok {
			return nil, misuse("start server in %s: another program, %d, runs one there, at %s", p.data, n.PID, n.Address)
		}
		pause(ctx, pollEvery)
	}
	return nil, misuse("start server in %s: another program holds the folder", p.data)
}

// introduceServer says where the server is: as JSON it is the verb's result.
func (a *app) introduceServer(s *session, h hosting) error {
	n, _ := s.neighbour()
	if a.json {
		return writeJSON(a.out, n)
	}
	a.note("Temporal is at %s, its data in %s", n.Address, s.data)
	if n.UI != "" {
		a.note("its web UI is at %s", n.UI)
	}
	a.note("to use it from elsewhere: export TEMPORAL_ADDRESS=%s PROCESSIDEA_STORE=%s", n.Address, quote(n.Store))
	if id := s.values.Keys().Primary(); id != "" {
		a.note("all is encrypted with key %s: whoever uses it needs %s", id, encryption.Variable)
	}
	switch {
	case !h.worker:
		a.note("no worker runs; start one with the variables above")
	case n.LLM:
		a.note("a worker runs, and asks the LLM that the environment names")
	default:
		a.note("a worker runs; no LLM is configured: processes need recorded replies (OPENAI_API_KEY and OPENAI_BASE_URL are not set)")
	}
	a.note("stop with Ctrl-C")
	return nil
}
