package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

func (a *app) exportVerb() *cobra.Command {
	file := ""
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Write the whole chain of a process as one file",
		Long: `Write the whole chain of a process as one file of JSON Lines: each Idea whole, with
the log of what changed before it. "verify FILE" checks it with nothing else. It is
read from the store; no server is needed. A chain with a broken place is not exported.`,
		Example: `  starter export refund-17 -o refund-17.jsonl
  starter export refund-17 | gzip > refund-17.jsonl.gz`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.export(c.Context(), args[0], file) },
	}
	c.Flags().StringVarP(&file, "output", "o", "", "`file` to write (default standard output)")
	return c
}

func (a *app) export(ctx context.Context, id, file string) error {
	return a.read(ctx, func(c *archive) error {
		if _, err := c.length(ctx, "export", id); err != nil {
			return err
		}
		if file == "" {
			return c.Export(ctx, id, a.out)
		}
		err := writeFile(file, func(w io.Writer) error { return c.Export(ctx, id, w) })
		if err != nil {
			return err
		}
		r, err := verifyFile(file)
		if err != nil {
			return err
		}
		return a.printReport(file, r)
	})
}

// writeFile writes a file under another name first: who finds it finds all of it.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name + ".new")
	if err != nil {
		return misuse("write %s: %w", name, cause(err))
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
