package setup

import (
	"context"

	"github.com/spf13/cobra"

	"processidea/gateway/server"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/store/signing"
)

// gatewayKeyCommand makes the key of a gateway.
func gatewayKeyCommand(a *app.App) *cobra.Command {
	var keyFile, decidersFile string
	c := app.NewCommand("gateway NAME", "Make the key with which a gateway signs what people decide there",
		`Make the key (Ed25519) with which a gateway signs people's decisions:
PROCESSIDEA_GATEWAY_KEY=FILE. NAME is the issuer in the proofs, such as the gateway's
address. The key may speak for anybody, of any group: whoever trusts it trusts the gateway
and the issuer of its tokens. Files are as for "keys person".`,
		`  starter keys gateway https://gateway.example.com --out gateway.key --deciders deciders.json`,
		func(_ context.Context, args []string) error {
			k, err := signing.NewIssuerKey(args[0])
			if err != nil {
				return exit.Usagef("%w", err)
			}
			return saveKey(a, k, args[0], server.KeyVariable, keyFile, decidersFile)
		})
	c.Flags().StringVar(&keyFile, "out", "",
		"the `file` for the private key (default NAME.key under process-idea in the user's folder for settings)")
	c.Flags().StringVar(&decidersFile, "deciders", "",
		"the JWKS `file` to which the public key is added; made where there is none")
	return c
}
