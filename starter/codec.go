package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"processidea/worker/codecserver"
)

// tokenVariable holds the bearer token of the codec server. It is no flag: flags are seen by everybody on the machine.
const tokenVariable = "PROCESSIDEA_CODEC_TOKEN"

func (a *app) codecVerb() *cobra.Command {
	var listen string
	var origins []string
	c := &cobra.Command{
		Use:   "codec",
		Short: "Serve what histories hold encrypted, or in the store, to the Temporal UI",
		Long: `Serve what histories hold encrypted, or in the store, to the Temporal UI and to the
temporal CLI, until stopped: their codec server. The keys are those of
PROCESSIDEA_KEYS. ("run" and "dev" have one of their own for their UI.)

Only pages of the origins given may ask, and without any only pages from this
machine. With PROCESSIDEA_CODEC_TOKEN set, every request must carry it as its bearer
token, and programs that are no page may ask too. Beyond this machine it is not
served without one.`,
		Example: `  starter codec --origin https://temporal.example.com
  PROCESSIDEA_CODEC_TOKEN=… starter codec --listen :8081 --origin https://temporal.example.com
  temporal workflow show --workflow-id p --codec-endpoint http://127.0.0.1:8081 --codec-auth "Bearer …"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.codec(c.Context(), listen, origins) },
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:8081", "`address` to listen on")
	c.Flags().StringSliceVar(&origins, "origin", nil, "`origin` of the Temporal UI, such as https://temporal.example.com")
	return c
}

func (a *app) codec(ctx context.Context, listen string, origins []string) error {
	token := os.Getenv(tokenVariable)
	if token == "" && !onLoopback(listen) {
		return misuse("listen on %s: it is beyond this machine, and %s is not set", listen, tokenVariable)
	}
	for _, origin := range origins {
		if err := codecserver.CheckOrigin(origin); err != nil {
			return misuse("allow origin %q: %w", origin, err)
		}
	}
	p, err := a.place()
	if err != nil {
		return err
	}
	store, err := openStore(ctx, p.shared())
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	endpoint, stop, err := serveCodec(ctx, listen, codecserver.Options{Store: store, Origins: origins, Token: token})
	if err != nil {
		return err
	}
	defer stop()
	a.note("the codec server is at %s", endpoint)
	a.note("stop with Ctrl-C")
	<-ctx.Done()
	return nil
}

func onLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// serveCodec lets the Temporal UI read payloads. It answers until it is stopped.
func serveCodec(ctx context.Context, listen string, o codecserver.Options) (endpoint string, stop func(), err error) {
	handler, err := codecserver.Handler(o)
	if err != nil {
		return "", nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return "", nil, fmt.Errorf("serve payloads: %w", err)
	}
	s := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() { _ = s.Close() }, nil
}
