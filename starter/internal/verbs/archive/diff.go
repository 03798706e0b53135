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
	printsPatch, v := false, valueFormat{}
	c := app.NewCommand("diff ID A B", "Compare two Ideas of a process",
		`Compare two Ideas of a process's chain: the values and the Calls that were added
(+), changed (~) and removed (-), instance by instance, and what people decided
between the two. --patch prints a JSON Patch
(RFC 6902) that makes the whole Idea B of the whole Idea A. It is read from the
store; no server is needed.`,
		`  starter diff refund-17 1 3
  starter diff refund-17 1 3 --patch`,
		func(ctx context.Context, args []string) error {
			var ideaNumbers [2]int
			for n, text := range args[1:] {
				ideaNumber, err := strconv.Atoi(text)
				if err != nil || ideaNumber < 1 {
					return exit.Usagef("compare Ideas of %s: %q is not the number of an Idea", args[0], text)
				}
				ideaNumbers[n] = ideaNumber
			}
			return a.WithArchive(ctx, func(archive *client.Archive) error {
				d, err := archive.Chain(args[0]).Diff(ctx, ideaNumbers[0], ideaNumbers[1])
				switch {
				case err != nil:
					return err
				case printsPatch:
					return a.Print(jsonval.EncodeToString(d.Patch) + "\n")
				}
				return a.Show(d, v.diffText(d))
			})
		})
	c.Flags().BoolVar(&printsPatch, "patch", false, "print a JSON Patch (RFC 6902)")
	v.addFlag(c)
	return c
}

var signByChangeKind = map[string]string{ideadiff.Added: "+", ideadiff.Changed: "~", ideadiff.Removed: "-",
	ideadiff.Undone: "~"}

// diffText lists a Diff instance by instance. Changes that belong to no instance come first, without a heading.
func (v valueFormat) diffText(d *client.Diff) string {
	linesByInstance, instances := map[string][]string{}, []string{""}
	addLine := func(instance, line string) {
		instances = jsonval.AppendNew(instances, instance)
		linesByInstance[instance] = append(linesByInstance[instance], "  "+line+"\n")
	}
	for _, c := range d.Changes {
		addLine(c.Instance, fmt.Sprintf("%s %s  %s", signByChangeKind[c.Kind], print.Printable(c.Path),
			v.changedValueText(c.Kind, c.From, c.To)))
	}
	for _, c := range d.Calls {
		callLabel := strings.TrimSpace("call " + c.ID + " " + print.Printable(c.Tool))
		addLine(c.Instance, fmt.Sprintf("%s %s  %s", signByChangeKind[c.Kind], callLabel,
			v.changedValueText(c.Kind, c.From, c.To)))
	}
	var b strings.Builder
	print.Fprintf(&b, "%s: Idea %d → Idea %d\n", d.Process, d.IdeaNumberA, d.IdeaNumberB)
	if len(linesByInstance) == 0 {
		b.WriteString("  no value and no Call differs\n")
	}
	for _, instance := range instances {
		if instance != "" {
			b.WriteString(print.Printable(instance) + "\n")
		}
		b.WriteString(strings.Join(linesByInstance[instance], ""))
	}
	if len(d.Decisions) > 0 {
		b.WriteString("decided between them\n" + v.decisionsText(d.Decisions))
	}
	return b.String()
}

func (v valueFormat) changedValueText(changeKind string, oldValue, newValue any) string {
	switch changeKind {
	case ideadiff.Added:
		return v.text(newValue)
	case ideadiff.Removed:
		return v.text(oldValue)
	}
	return v.text(oldValue) + " → " + v.text(newValue)
}
