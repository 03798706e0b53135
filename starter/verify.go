package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"processidea/store/chain"
)

func (a *app) verifyVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "verify ID|FILE",
		Short: "Check every digest of a process's chain, or of an exported one",
		Long: `Check a process's chain: that its Ideas are numbered without a gap and each names
the one before, and that every manifest, part, value and log is what its digest says.
Where a file of the name is there, it is checked as what export wrote, with nothing
but the file. No server is needed. Exit code 1 where something is broken.`,
		Example: `  starter verify refund-17
  starter verify refund-17.jsonl --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.verify(c.Context(), args[0]) },
	}
}

func (a *app) verify(ctx context.Context, of string) error {
	if info, err := os.Stat(of); err == nil && info.Mode().IsRegular() {
		r, err := verifyFile(of)
		if err != nil {
			return err
		}
		return a.printReport(of, r)
	}
	return a.read(ctx, func(c *archive) error {
		if _, err := c.length(ctx, "verify", of); err != nil {
			return err
		}
		r, err := c.Verify(ctx, of)
		if err != nil {
			return err
		}
		return a.printReport(of, r)
	})
}

func verifyFile(name string) (*chain.Report, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, misuse("verify %s: %w", name, cause(err))
	}
	defer f.Close()
	r, err := chain.VerifyExport(f)
	if errors.Is(err, chain.ErrNoExport) {
		return nil, misuse("verify %s: %w", name, chain.ErrNoExport)
	}
	return r, err
}

// printReport prints what a check found, and gives the error that stands for its exit code.
func (a *app) printReport(of string, r *chain.Report) error {
	var err error
	if a.json {
		err = writeJSON(a.out, r)
	} else {
		_, err = fmt.Fprint(a.out, reportText(of, r))
	}
	if err == nil && !r.Whole {
		err = &exit{code: exitFailed}
	}
	return err
}

func reportText(of string, r *chain.Report) string {
	var b strings.Builder
	if r.Whole {
		fmt.Fprintf(&b, "%s: whole, %s, the latest has the digest %s\n", printable(of), plural(r.Ideas, "Idea"), r.Digest)
		b.WriteString(originText(r.Origin) + simulatedText(r.Simulated))
		return b.String()
	}
	fmt.Fprintf(&b, "%s: broken, %s\n", printable(of), plural(r.Ideas, "Idea"))
	for _, p := range r.Broken {
		fmt.Fprintf(&b, "  Idea %d: %s: %s\n", p.At, printable(p.Part), printable(p.Problem))
	}
	if len(r.Unreadable) > 0 {
		fmt.Fprintf(&b, "  %s cannot be loaded: %s\n", plural(len(r.Unreadable), "Idea"), shown(r.Unreadable))
	}
	return b.String()
}
