package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"processidea/store/blobs"
	"processidea/store/encryption"
	"processidea/worker/engine"
)

func (a *app) keysVerb() *cobra.Command {
	c := &cobra.Command{
		Use:     "keys",
		Short:   "Make keys for encryption",
		Example: "  starter keys new",
		Args:    cobra.NoArgs,
	}
	c.AddCommand(&cobra.Command{
		Use:   "new [ID]",
		Short: "Print a fresh key, as an entry of PROCESSIDEA_KEYS",
		Long: `Print a fresh key, as an entry of PROCESSIDEA_KEYS: its id, which stands in the clear
on all that it encrypts, and 32 random bytes. The id is today's date unless one is
given. Of several entries, set apart by commas, the first encrypts and all decrypt.`,
		Example: `  export PROCESSIDEA_KEYS=$(starter keys new)
  export PROCESSIDEA_KEYS=$(starter keys new),$PROCESSIDEA_KEYS`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			id := time.Now().UTC().Format(time.DateOnly)
			if len(args) > 0 {
				id = args[0]
			}
			return a.newKey(id)
		},
	})
	return c
}

func (a *app) newKey(id string) error {
	entry, err := encryption.Generate(id)
	if err != nil {
		return &exit{exitUsage, err}
	}
	if a.json {
		return writeJSON(a.out, map[string]string{"id": id, "key": entry})
	}
	_, err = fmt.Fprintln(a.out, entry)
	return err
}

// openStore opens the store with the keys of the environment. Keys that are broken, missing or not the store's own are the
// caller's to mend.
func openStore(ctx context.Context, at string) (*blobs.Store, error) {
	keys, err := engine.KeysFromEnvironment()
	var s *blobs.Store
	if err == nil {
		s, err = blobs.Open(ctx, at, blobs.WithKeys(keys))
	}
	if encryption.IsKeyError(err) {
		return nil, &exit{exitUsage, err}
	}
	return s, err
}

// badKeys says whether something failed because of the caller's keys: waiting does not mend it.
func badKeys(err error) bool {
	var e *exit
	return errors.As(err, &e) && e.code == exitUsage
}
