package setup

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"processidea/gateway/server"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/store/encryption"
	"processidea/store/signing"
)

// Keys makes keys: for encryption, and for people to sign with.
func Keys(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:     "keys",
		Short:   "Make keys, for encryption and for people to sign with",
		Example: "  starter keys new\n  starter keys person ann@example.com --group finance",
		Args:    cobra.NoArgs,
	}
	c.AddCommand(app.NewCommand("new [ID]", "Print a fresh key, as an entry of PROCESSIDEA_KEYS",
		`Print a fresh key, as an entry of PROCESSIDEA_KEYS: its id and 32 random bytes. The id
(default: today's date) stands in the clear on all that the key encrypts. Separate entries
by commas: the first encrypts, all decrypt.`,
		`  export PROCESSIDEA_KEYS=$(starter keys new)
  export PROCESSIDEA_KEYS=$(starter keys new),$PROCESSIDEA_KEYS`,
		func(_ context.Context, args []string) error {
			id := time.Now().UTC().Format(time.DateOnly)
			if len(args) > 0 {
				id = args[0]
			}
			return printNewEncryptionKey(a, id)
		}))
	c.AddCommand(personKeyCommand(a), gatewayKeyCommand(a), addKeyCommand(a))
	return c
}

func printNewEncryptionKey(a *app.App, id string) error {
	entry, err := encryption.GenerateKey(id)
	if err != nil {
		return exit.Usagef("%w", err)
	}
	return a.Show(map[string]string{"id": id, "key": entry}, entry+"\n")
}

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
			return saveSigningKey(a, k, args[0], server.SigningKeyVariable, keyFile, decidersFile)
		})
	addKeyFileFlags(c, &keyFile, &decidersFile)
	return c
}
