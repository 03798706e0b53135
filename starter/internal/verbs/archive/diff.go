package archive

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/store/ideadiff"
)

// Diff compares two Ideas of a process.
func Diff(a *app.App) *cobra.Command {
	patch, v := false, valueFormat{}
	c := app.Verb("diff ID A B", "Compare two Ideas of a process",
		`Compare two Ideas of a process's chain: the values and the Calls that were added
(+), changed (~) and removed (-), instance by instance, and what people decided
between the two. --patch prints a JSON Patch
(RFC 6902) that makes the whole Idea B of the whole Idea A. It is read from the
store; no server is needed.`,
		`  starter diff refund-17 1 3
  starter diff refund-17 1 3 --patch`,
		func(ctx context.Context, args []string) error {
			return runDiff(ctx, a, args[0], args[1], args[2], patch, v)
		})
	c.Flags().BoolVar(&patch, "patch", false, "print a JSON Patch (RFC 6902)")
	v.addFlag(c)
	return c
}

func runDiff(ctx context.Context, a *app.App, id, from, to string, patch bool, v valueFormat) error {
	return a.WithArchive(ctx, func(archive *client.Archive) error {
		var numbers [2]int
		for i, text := range []string{from, to} {
			at, err := strconv.Atoi(text)
			if err != nil || at < 1 {
				return exit.Usagef("compare Ideas of %s: %q is not the number of an Idea", id, text)
			}
			numbers[i] = at
		}
		d, err := archive.Chain(id).Diff(ctx, numbers[0], numbers[1])
		switch {
		case err != nil:
			return err
		case patch:
			return a.Print(jsonval.EncodeToString(d.Patch) + "\n")
		}
		return a.Show(d, v.diffText(d))
	})
}

var changeSigns = map[string]string{ideadiff.Added: "+", ideadiff.Changed: "~", ideadiff.Removed: "-",
	ideadiff.Undone: "~"}

// diffText lists a Diff instance by instance. Changes that belong to no instance come first, without a heading.
func (v valueFormat) diffText(d *client.Diff) string {
	lines, instances := map[string][]string{}, []string{""}
	add := func(instance, line string) {
		instances = jsonval.AppendNew(instances, instance)
		lines[instance] = append(lines[instance], "  "+line+"\n")
	}
	for _, c := range d.Changes {
		add(c.Instance, fmt.Sprintf("%s %s  %s", changeSigns[c.What], print.Printable(c.Path),
			v.fromTo(c.What, c.From, c.To)))
	}
	for _, c := range d.Calls {
		name := strings.TrimSpace("call " + c.ID + " " + print.Printable(c.Tool))
		add(c.Instance, fmt.Sprintf("%s %s  %s", changeSigns[c.What], name, v.fromTo(c.What, c.From, c.To)))
	}
	var b strings.Builder
	print.Fprintf(&b, "%s: Idea %d → Idea %d\n", d.Process, d.A, d.B)
	if len(lines) == 0 {
		b.WriteString("  no value and no Call differs\n")
	}
	for _, instance := range instances {
		if instance != "" {
			b.WriteString(print.Printable(instance) + "\n")
		}
		b.WriteString(strings.Join(lines[instance], ""))
	}
	if len(d.Decisions) > 0 {
		b.WriteString("decided between them\n" + v.decidedText(d.Decisions))
	}
	return b.String()
}

func (v valueFormat) fromTo(what string, from, to any) string {
	switch what {
	case ideadiff.Added:
		return v.text(to)
	case ideadiff.Removed:
		return v.text(from)
	}
	return v.text(from) + " → " + v.text(to)
}
