package setup

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"processidea/gateway/access"
	gateway "processidea/gateway/server"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/server"
	"processidea/worker/codecserver"
)

// codecTokenEnvVar names the codec server's bearer token. It is not a flag, since all users of the machine can see
// flags.
const codecTokenEnvVar = "PROCESSIDEA_CODEC_TOKEN"

// Codec serves payloads to the Temporal UI.
func Codec(a *app.App) *cobra.Command {
	var address string
	var allowedOrigins []string
	var withoutToken bool
	c := app.NewCommand("codec", "Show the Temporal UI what histories hold encrypted, or in the store",
		`Serve a codec server until stopped: it shows the Temporal UI and the temporal CLI what
histories hold encrypted or in the store. The keys are those of PROCESSIDEA_KEYS. ("run"
and "dev" have one of their own for their UI.)

Only pages of the given origins may ask; without --origin, only pages from this machine.
With PROCESSIDEA_CODEC_TOKEN set, every request must carry it as its bearer token, and
programs other than browsers may ask too. Other machines always need a token.`,
		`  starter codec --origin https://temporal.example.com
  PROCESSIDEA_CODEC_TOKEN=… starter codec --listen :8081 --origin https://temporal.example.com
  temporal workflow show --workflow-id p --codec-endpoint http://127.0.0.1:8081 --codec-auth "Bearer …"`,
		func(ctx context.Context, _ []string) error {
			return runCodec(ctx, a, address, allowedOrigins, withoutToken)
		})
	f := c.Flags()
	f.StringVar(&address, "listen", "127.0.0.1:8081", "`address` to listen on")
	f.StringSliceVar(&allowedOrigins, "origin", nil,
		"`origin` of the Temporal UI, such as https://temporal.example.com")
	f.BoolVar(&withoutToken, "without-token", false,
		"listen beyond this machine without a token, in a container whose port only this machine can reach; needs "+
			"--origin")
	return c
}

func runCodec(ctx context.Context, a *app.App, address string, allowedOrigins []string, withoutToken bool) error {
	token := os.Getenv(codecTokenEnvVar)
	if withoutToken && len(allowedOrigins) == 0 {
		return exit.Usagef("serve --without-token: name the allowed pages with --origin")
	}
	if token == "" && !gateway.IsLocal(address) && !withoutToken {
		return exit.Usagef("listen on %s: other machines can reach it, but %s is not set",
			address, codecTokenEnvVar)
	}
	for _, origin := range allowedOrigins {
		if err := access.CheckOriginFormat(origin); err != nil {
			return exit.Usagef("allow origin %q: %w", origin, err)
		}
	}
	p, err := a.Place()
	if err != nil {
		return err
	}
	archive, err := server.OpenArchive(ctx, p.StorePlaceInUse())
	if err != nil {
		return err
	}
	defer archive.Close()
	codecFailures := make(chan error, 1)
	endpoint, stop, err := server.ServeCodec(ctx, address, codecserver.Options{Store: archive.Store(),
		AllowedOrigins: allowedOrigins,
		BearerToken:    token}, func(err error) { codecFailures <- err })
	if err != nil {
		return err
	}
	defer stop()
	a.Note("the codec server is at %s", endpoint)
	a.Note("stop with Ctrl-C")
	select {
	case err := <-codecFailures:
		return err
	case <-ctx.Done():
		return nil
	}
}
