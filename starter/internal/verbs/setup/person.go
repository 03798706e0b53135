package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/store/signing"
)

// personKeyCommand makes the key of a person.
func personKeyCommand(a *app.App) *cobra.Command {
	var groups []string
	var keyFile, decidersFile string
	c := app.NewCommand("person NAME", "Make a person's own key to sign decisions with",
		`Make a person's own key (Ed25519) to sign decisions with: "approve --key FILE", or
PROCESSIDEA_KEY=FILE. NAME is the one that policies know. The private key goes into a new
file that nobody else may read. The public key is printed as an entry of the JWKS that
PROCESSIDEA_DECIDERS names; --deciders FILE adds it there. Whoever keeps that file says who
belongs to which group.`,
		`  starter keys person ann@example.com --group finance
  starter keys person ann --group finance --out ann.key --deciders deciders.json`,
		func(_ context.Context, args []string) error {
			return newPersonKey(a, args[0], groups, keyFile, decidersFile)
		})
	c.Flags().StringArrayVar(&groups, "group", nil, "a `group` of the person; may be repeated")
	addKeyFileFlags(c, &keyFile, &decidersFile)
	return c
}

func addKeyFileFlags(c *cobra.Command, keyFile, decidersFile *string) {
	c.Flags().StringVar(keyFile, "out", "",
		"the `file` for the private key (default NAME.key under process-idea in the user's folder for settings)")
	c.Flags().StringVar(decidersFile, "deciders", "",
		"the JWKS `file` to which the public key is added; made where there is none")
}

func newPersonKey(a *app.App, person string, groups []string, keyFile, decidersFile string) error {
	k, err := signing.NewPersonKey(person, groups)
	if err != nil {
		return exit.Usagef("%w", err)
	}
	return saveSigningKey(a, k, person, signing.PrivateKeyVariable, keyFile, decidersFile)
}

// saveSigningKey writes a private key to a file, and its public half to the JWKS. envVarName is the environment
// variable that names the key file where it is used.
func saveSigningKey(a *app.App, k *signing.PrivateKey, keyOwner, envVarName, keyFile, decidersFile string) error {
	publicKey, err := k.PublicJWK()
	if err != nil {
		return err
	}
	if keyFile == "" {
		if keyFile, err = defaultKeyFile(keyOwner); err != nil {
			return err
		}
	}
	var jwks []byte
	if decidersFile != "" { // read it before anything is written
		if jwks, err = jwksWithKey(decidersFile, publicKey); err != nil {
			return err
		}
	}
	if err := writePrivateFile(keyFile, k.Encode()); err != nil {
		return err
	}
	if decidersFile != "" {
		if err := replaceFile(decidersFile, jwks); err != nil {
			return err
		}
		a.Note("the public key is in %s", decidersFile)
	}
	a.Note("the private key is in %s: export %s=%s", keyFile, envVarName, print.ShellQuote(keyFile))
	return a.Print(string(publicKey) + "\n")
}

// defaultKeyFile is the file of a person's key if --out names none.
func defaultKeyFile(keyOwner string) (string, error) {
	dir, err := os.UserConfigDir()
	if err == nil {
		dir = filepath.Join(dir, "process-idea")
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", exit.Usagef("make a key for %s: %w; name its file with --out", keyOwner, err)
	}
	return filepath.Join(dir, url.PathEscape(keyOwner)+".key"), nil
}

// writePrivateFile writes a new file that nobody else may read. It overwrites no file.
func writePrivateFile(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return exit.Usagef("write key: %s exists already, and stays as it is", name)
	}
	if err != nil {
		return exit.Usagef("write key: %w", err)
	}
	_, err = f.Write(data)
	if err = cmp.Or(err, f.Close()); err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	return nil
}

// jwksWithKey returns the contents of a JWKS file with one more key.
func jwksWithKey(jwksFile string, publicKey []byte) ([]byte, error) {
	jwks := jsonval.Object{"keys": []any{}}
	data, err := os.ReadFile(jwksFile)
	if err == nil {
		if _, err = signing.ParseKeys(data); err == nil {
			jwks, err = jsonval.DecodeObject(data)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Usagef("add a key to %s: %w", jwksFile, err)
	}
	entry, err := jsonval.DecodeObject(publicKey)
	if err != nil {
		return nil, err
	}
	keys := jsonval.AsList(jwks["keys"])
	jwks["keys"] = append(keys, entry)
	return []byte(print.IndentJSON(jwks) + "\n"), nil
}

// replaceFile replaces a file as a whole, since a worker reads it whenever it changes. A link stays a link.
func replaceFile(name string, data []byte) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".deciders-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(data)
	if err = cmp.Or(err, f.Close(), os.Chmod(f.Name(), 0o644)); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
