package archive

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/report"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
)

// Export writes the whole chain of a process as one file.
func Export(a *app.App) *cobra.Command {
	file, writesHTML := "", false
	c := app.NewCommand("export ID", "Write the whole chain of a process as one file",
		`Write the whole chain of a process as one file of JSON Lines: each Idea whole, with the log
of what changed before it. "verify FILE" checks it with nothing else. It reads the store and
needs no server. A broken chain is not exported.

--html writes one page for people, which any browser opens: who decided what and how that is
proved, the Plan as a picture, each instance's State with who wrote it, the Ideas with their
digests, and how to check all that. A page of a broken chain says what is broken.`,
		`  starter export refund-17 -o refund-17.jsonl
  starter export refund-17 --html -o refund-17.html
  starter export refund-17 | gzip > refund-17.jsonl.gz`,
		func(ctx context.Context, args []string) error {
			if writesHTML {
				return exportHTML(ctx, a, args[0], file)
			}
			return runExport(ctx, a, args[0], file)
		})
	c.Flags().BoolVar(&writesHTML, "html", false, "write a page for people, which opens in any browser")
	c.Flags().StringVarP(&file, "output", "o", "", "`file` to write (default standard output)")
	return c
}

func runExport(ctx context.Context, a *app.App, id, file string) error {
	return a.WithArchive(ctx, func(archive *client.Archive) error {
		c := archive.Chain(id)
		if file == "" {
			err := c.Export(ctx, a.Out)
			if err == nil && !a.WritesJSON {
				noteLatestIdea(ctx, a, c, id)
			}
			return err
		}
		// Check before the file is made: a process without a chain must leave no file.
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
		return printVerifyReport(a, file, r)
	})
}

// exportHTML writes what a process did as a page for people. It checks signatures with the keys that
// PROCESSIDEA_DECIDERS names.
func exportHTML(ctx context.Context, a *app.App, id, file string) error {
	deciderKeys, err := loadDeciderKeys(ctx, "")
	if err != nil {
		return err
	}
	return a.WithArchive(ctx, func(archive *client.Archive) error {
		c := archive.WithDeciderKeys(deciderKeys).Chain(id)
		if file == "" {
			return report.Write(ctx, c, id, a.Out)
		}
		if _, err := c.Ideas(ctx); err != nil {
			return err
		}
		return writeFile(file, func(w io.Writer) error { return report.Write(ctx, c, id, w) })
	})
}

// writeFile writes a file under another name first, so that nobody finds half of it. If the name is something other
// than a regular file, such as /dev/stdout, /dev/null, a pipe or a link, it is kept and written to directly.
func writeFile(name string, write func(io.Writer) error) error {
	tempName := name + ".new"
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		tempName = name
	}
	f, err := os.Create(tempName)
	if err != nil {
		return exit.Usagef("write %s: %w", name, ideafiles.WithoutPath(err))
	}
	err = write(f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil && tempName != name {
		err = os.Rename(tempName, name)
	}
	if err != nil && tempName != name {
		_ = os.Remove(tempName)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
