package archive

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/internal/flags"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
	"processidea/store/blobs"
	"processidea/store/chain"
)

// gcOptions holds the flags of gc.
type gcOptions struct {
	minAge                   time.Duration
	isConfirmed, isStoreOnly bool
}

// minCollectAge is the age below which nothing is removed. Writers reuse values that have been in the store for less
// than blobs.MaxPutValueAge, and need some time to record that in Temporal.
const minCollectAge = 2 * blobs.MaxPutValueAge

// GC removes old chains, and values that nothing needs any more, from the store.
func GC(a *app.App) *cobra.Command {
	var o gcOptions
	c := app.NewCommand("gc --older-than DURATION",
		"Remove from the store old chains, and values that nothing needs any more",
		`Remove from the store the chains whose latest Idea is older than a duration, unless Temporal
still has something open of their process. Also remove values that old that neither a
remaining chain nor a history needs, and files that a killed program left half written.
Without --yes it only says what it would remove.

It reads every history of the namespace. Do not use it if several namespaces share one
store. --store-only asks no server: processes still open lose what their chains do not hold.`,
		`  starter gc --older-than 720h
  starter gc --older-than 720h --yes`,
		func(ctx context.Context, _ []string) error {
			if o.minAge == 0 {
				return exit.Usagef("collect what is older than 0s: it must be at least %s", minCollectAge)
			}
			return runGC(ctx, a, o)
		})
	flags.Duration(c.Flags(), &o.minAge, "older-than", minCollectAge, false,
		"keep what is younger than this, such as 720h")
	c.Flags().BoolVar(&o.isConfirmed, "yes", false, "remove it")
	c.Flags().BoolVar(&o.isStoreOnly, "store-only", false, "ask no Temporal server")
	return c
}

func runGC(ctx context.Context, a *app.App, o gcOptions) error {
	rules := chain.CollectRules{Cutoff: time.Now().Add(-o.minAge), ShouldRemove: o.isConfirmed}
	if o.isStoreOnly {
		a.Note("Temporal is not asked: a process that is still open may lose values")
	} else {
		err := a.WithSession(ctx, func(s *server.Session) (err error) {
			rules.TemporalContents, err = s.ReadReferencedStoreValues(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return a.WithArchive(ctx, func(archive *client.Archive) error {
		collectResult, err := archive.Collect(ctx, rules)
		if err != nil {
			return err
		}
		return a.Show(collectResult, collectResultText(collectResult))
	})
}

func collectResultText(c *chain.CollectResult) string {
	var b strings.Builder
	verb := "would remove"
	if c.WasRemoved {
		verb = "removed"
	}
	fmt.Fprintf(&b, "%s %s (%s, %s) and %s (%s)\n", verb, print.Plural(len(c.CollectedProcessIDs), "chain"),
		print.Plural(c.CollectedIdeaCount, "Idea"), sizeText(c.CollectedIdeaBytes),
		print.Plural(c.CollectedValueCount, "value"), sizeText(c.CollectedValueBytes))
	for _, processID := range c.CollectedProcessIDs {
		print.Fprintf(&b, "  %s\n", processID)
	}
	if c.UnfinishedFileCount > 0 {
		fmt.Fprintf(&b, "%s %s that a killed program left half written (%s)\n", verb,
			print.Plural(c.UnfinishedFileCount, "file"), sizeText(c.UnfinishedBytes))
	}
	fmt.Fprintf(&b, "%s and %s (%s) stay\n", print.Plural(c.Retained.ChainCount, "chain"),
		print.Plural(c.Retained.ValueCount, "value"), sizeText(c.Retained.ValueBytes))
	if !c.WasRemoved && c.CollectedIdeaCount+c.CollectedValueCount+c.UnfinishedFileCount > 0 {
		b.WriteString("nothing was removed: --yes does it\n")
	}
	return b.String()
}

// sizeText formats a number of bytes for people.
func sizeText(bytes int64) string {
	switch {
	case bytes < 1000:
		return print.Plural(int(bytes), "byte")
	case bytes < 1e6:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	case bytes < 1e9:
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}
