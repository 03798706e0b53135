package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
	"processidea/store/chain"
)

// Verify checks every digest of a chain.
func Verify(a *app.App) *cobra.Command {
	withTemporal := false
	c := &cobra.Command{
		Use:   "verify ID|FILE",
		Short: "Check every digest of a process's chain, or of an exported one",
		Long: `Check a process's chain: that its Ideas are numbered without a gap and each names
the one before, and that every manifest, part, value and log is what its digest says.
Where a file of the name is there, it is checked as what export wrote, with nothing
but the file. No server is needed, and nothing is read but the store that --store or
PROCESSIDEA_STORE names, such as a backup. Exit code 1 where something is broken.

Whoever can write the store can write a whole chain anew, with digests that fit.
--temporal therefore compares every Idea with the digest that Temporal's history of
the process has of it, for as long as the history is kept.`,
		Example: `  starter verify refund-17
  starter verify refund-17 --store /backup/store
  starter verify refund-17 --temporal
  starter verify refund-17.jsonl --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if withTemporal {
				return verifyWithTemporal(c.Context(), a, args[0])
			}
			return verify(c.Context(), a, args[0])
		},
	}
	c.Flags().BoolVar(&withTemporal, "temporal", false, "compare it with the digests in Temporal's history too")
	return c
}

func verifyWithTemporal(ctx context.Context, a *app.App, id string) error {
	return a.Visit(ctx, func(s *server.Session) error {
		r, err := s.VerifyWithTemporal(ctx, id)
		if err != nil {
			return err
		}
		if !a.JSON {
			a.Note("%s of %s compared with Temporal's history", print.Plural(r.Witnessed, "Idea"), print.Plural(r.Ideas, "Idea"))
		}
		return printReport(a, id, r)
	})
}

func verify(ctx context.Context, a *app.App, of string) error {
	info, err := os.Stat(of)
	if err == nil && info.Mode().IsRegular() {
		r, err := verifyFile(of)
		if err != nil {
			return err
		}
		return printReport(a, of, r)
	}
	return a.Read(ctx, func(archive *client.Archive) error {
		r, err := archive.Chain(of).Verify(ctx)
		if err != nil {
			return err
		}
		if a.Store != "" {
			of += " in " + a.Store
		}
		return printReport(a, of, r)
	})
}

func verifyFile(name string) (*chain.Report, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, exit.Usagef("verify %s: %w", name, ideafiles.WithoutPath(err))
	}
	defer f.Close()
	r, err := chain.VerifyExport(f)
	if errors.Is(err, chain.ErrNoExport) {
		return nil, exit.Usagef("verify %s: %w", name, chain.ErrNoExport)
	}
	return r, err
}

// printReport prints what a check found, and gives the error that stands for its exit code.
func printReport(a *app.App, of string, r *chain.Report) error {
	var err error
	if a.JSON {
		err = a.PrintJSON(r)
	} else {
		err = a.Print(reportText(of, r))
	}
	if err == nil && !r.Whole {
		err = exit.With(exit.Failed)
	}
	return err
}

func reportText(of string, r *chain.Report) string {
	var b strings.Builder
	if r.Whole {
		fmt.Fprintf(&b, "%s: whole, %s, the latest has the digest %s and was %s\n",
			print.Printable(of), print.Plural(r.Ideas, "Idea"), r.Digest, sealedText(r.Created))
		b.WriteString(originText(r.Origin) + simulatedText(r.Simulated))
		return b.String()
	}
	fmt.Fprintf(&b, "%s: broken, %s\n", print.Printable(of), print.Plural(r.Ideas, "Idea"))
	for _, p := range r.Broken {
		fmt.Fprintf(&b, "  Idea %d: %s: %s\n", p.At, print.Printable(p.Part), print.Printable(p.Problem))
	}
	if len(r.Unreadable) > 0 {
		fmt.Fprintf(&b, "  %s cannot be loaded: %s\n", print.Plural(len(r.Unreadable), "Idea"), print.Shown(r.Unreadable))
	}
	return b.String()
}
