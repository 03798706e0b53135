package setup

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/store/signing"
)

// addKeyCommand adds a public key that somebody else has made, such as a passkey, to the keys that workers trust.
func addKeyCommand(a *app.App) *cobra.Command {
	var groups []string
	var decidersFile string
	c := app.NewCommand("add FILE", "Add somebody's public key, such as a passkey, to those that workers trust",
		`Add a public key that somebody else has made to the JWKS that PROCESSIDEA_DECIDERS names:
one that "keys person" printed, or a passkey's, as the desk shows it. "-" reads it from
standard input. Check the printed person and groups; --group sets other groups. The key
counts at once. To withdraw a key, add "withdrawn" to its entry.`,
		`  starter keys add passkey.json --deciders deciders.json
  starter keys add - --deciders deciders.json --group finance < passkey.json`,
		func(_ context.Context, args []string) error { return addPublicKey(a, args[0], groups, decidersFile) })
	c.Flags().StringArrayVar(&groups, "group", nil,
		"a `group` of the person, instead of those that the key names; may be repeated")
	c.Flags().StringVar(&decidersFile, "deciders", os.Getenv(signing.DecidersVariable),
		"the JWKS `file` to which the key is added; made where there is none ($"+signing.DecidersVariable+")")
	return c
}

func addPublicKey(a *app.App, file string, groups []string, decidersFile string) error {
	if decidersFile == "" || strings.Contains(decidersFile, "://") {
		return exit.Usagef("add a key: --deciders FILE, the file to add it to, is missing")
	}
	var keyData []byte
	var err error
	if file == "-" {
		keyData, err = io.ReadAll(io.LimitReader(a.In, 1<<20))
	} else {
		keyData, err = os.ReadFile(file)
	}
	if err != nil {
		return exit.Usagef("add a key: %w", err)
	}
	entry, err := jsonval.DecodeObject(keyData)
	if err != nil {
		return exit.Usagef("add a key: %s: %w", file, err)
	}
	if len(groups) > 0 {
		entry["groups"] = jsonval.ToJSONValue(groups)
	}
	jwks, err := jwksWithKey(decidersFile, jsonval.Encode(entry))
	if err != nil {
		return err
	}
	keys, err := signing.ParseKeys(jwks)
	if err != nil {
		return exit.Usagef("add a key: %w", err)
	}
	if err := replaceFile(decidersFile, jwks); err != nil {
		return err
	}
	keyID, _ := entry["kid"].(string)
	a.Note("%s is in %s", describeKey(keys.Find(keyID)), decidersFile)
	return nil
}

// describeKey says which person and groups a key speaks for.
func describeKey(k *signing.Key) string {
	text := "the key " + k.ID + " of " + strings.Join(k.People, ", ")
	if len(k.Groups) > 0 {
		text += ", as one of " + strings.Join(k.Groups, ", ") + ","
	}
	if k.Passkey != nil {
		text += " a passkey for " + strings.Join(k.Passkey.Origins, ", ") + ","
	}
	return text
}
