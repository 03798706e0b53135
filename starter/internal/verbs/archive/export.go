package archive

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
)

// Export writes the whole chain of a process as one file.
func Export(a *app.App) *cobra.Command {
	file := ""
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Write the whole chain of a process as one file",
		Long: `Write the whole chain of a process as one file of JSON Lines: each Idea whole, with
the log of what changed before it. "verify FILE" checks it with nothing else. It is
read from the store; no server is needed. A chain with a broken place is not exported.`,
		Example: `  starter export refund-17 -o refund-17.jsonl
  starter export refund-17 | gzip > refund-17.jsonl.gz`,
		RunE: func(c *cobra.Command, args []string) error { return export(c.Context(), a, args[0], file) },
	}
	c.Flags().StringVarP(&file, "output", "o", "", "`file` to write (default standard output)")
	return c
}

func export(ctx context.Context, a *app.App, id, file string) error {
	return a.Read(ctx, func(archive *client.Archive) error {
		c := archive.Chain(id)
		if file == "" {
			err := c.Export(ctx, a.Out)
			if err == nil && !a.JSON {
				noteLatest(ctx, a, c, id)
			}
			return err
		}
		// Before the file is made: a process without a chain leaves none.
		if _, err := c.Ideas(ctx); err != nil {
			return err
		}
		err := writeFile(file, func(w io.Writer) error { return c.Export(ctx, w) })
		if err != nil {
			return err
		}
		r, err := verifyFile(file, nil)
		if err != nil {
			return err
		}
		return printReport(a, file, r)
	})
}

// writeFile writes a file under another name first: who finds it finds all of it.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name + ".new")
	if err != nil {
		return exit.Usagef("write %s: %w", name, ideafiles.WithoutPath(err))
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
