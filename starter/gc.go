package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"processidea/store/blobs"
	"processidea/store/chain"
)

// collecting is what gc is asked for.
type collecting struct {
	olderThan      time.Duration
	yes, storeOnly bool
}

// youngest is the age below which nothing is taken: who writes relies on what has been in the store for less than
// blobs.Freshness, and needs a while to tell Temporal.
const youngest = 2 * blobs.Freshness

func (a *app) gcVerb() *cobra.Command {
	var o collecting
	c := &cobra.Command{
		Use:   "gc --older-than DURATION",
		Short: "Remove old chains, and what nothing needs any more, from the store",
		Long: `Remove from the store the chains of which the latest Idea is older than a duration
and of whose processes nothing is open in Temporal, and the values that are older and
that neither a chain that stays nor a history that Temporal still has needs. Without
--yes it only says what it would remove.

It reads every history of the namespace. Where several namespaces keep their values
in one store, it must not be used. Without a server, --store-only goes by the store
alone: processes that are still open lose what their chains do not hold.`,
		Example: `  starter gc --older-than 720h
  starter gc --older-than 720h --yes`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.olderThan < youngest {
				return misuse("collect what is older than %s: it must be at least %s", o.olderThan, youngest)
			}
			return a.gc(c.Context(), o)
		},
	}
	c.Flags().DurationVar(&o.olderThan, "older-than", 0, "what is younger stays, such as 720h")
	c.Flags().BoolVar(&o.yes, "yes", false, "remove it")
	c.Flags().BoolVar(&o.storeOnly, "store-only", false, "ask no Temporal server")
	return c
}

func (a *app) gc(ctx context.Context, o collecting) error {
	rules := chain.Rules{Before: time.Now().Add(-o.olderThan), Remove: o.yes}
	if o.storeOnly {
		a.note("no Temporal server is asked: a process that is still open may lose values")
	} else {
		held, err := a.held(ctx)
		if err != nil {
			return err
		}
		rules.Held = held
	}
	return a.read(ctx, func(c *archive) error {
		rules.Open = c.values.Keys().OpenPayload
		collected, err := c.Collect(ctx, rules)
		switch {
		case err != nil:
			return err
		case a.json:
			return writeJSON(a.out, collected)
		}
		_, err = fmt.Fprint(a.out, collectedText(collected))
		return err
	})
}

// held asks the server what it still has.
func (a *app) held(ctx context.Context) (*chain.Held, error) {
	p, err := a.place()
	if err != nil {
		return nil, err
	}
	s, err := p.visit(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return chain.ReadTemporal(ctx, s.WorkflowService(), s.namespace, s.values.Keys().OpenPayload)
}

func collectedText(c *chain.Collected) string {
	var b strings.Builder
	does := "would remove"
	if c.Removed {
		does = "removed"
	}
	fmt.Fprintf(&b, "%s %s (%s, %s) and %s (%s)\n", does, plural(len(c.Chains), "chain"), plural(c.Ideas, "Idea"), size(c.IdeaBytes),
		plural(c.Values, "value"), size(c.ValueBytes))
	for _, process := range c.Chains {
		fmt.Fprintf(&b, "  %s\n", printable(process))
	}
	fmt.Fprintf(&b, "%s and %s (%s) stay\n", plural(c.Kept.Chains, "chain"), plural(c.Kept.Values, "value"), size(c.Kept.ValueBytes))
	if !c.Removed && c.Ideas+c.Values > 0 {
		b.WriteString("nothing was removed: --yes does it\n")
	}
	return b.String()
}

// size tells bytes for people.
func size(bytes int64) string {
	switch {
	case bytes < 1000:
		return plural(int(bytes), "byte")
	case bytes < 1e6:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	case bytes < 1e9:
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}
