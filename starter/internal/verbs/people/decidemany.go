package people

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"processidea/client"
	"processidea/client/bulk"
	"processidea/model/ideafile/spelling"
	"processidea/protocol"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
)

// deciding is what decide is asked for.
type deciding struct {
	selection            bulk.Selection
	where, key           string // JSON, or @file; a file
	approve, reject, yes bool
	all                  bool // show every row
	decision             client.Decision
}

// Decide decides on many Calls at once.
func Decide(a *app.App) *cobra.Command {
	var o deciding
	c := &cobra.Command{
		Use:   "decide ID --approve|--reject [--tool NAME] [--where SCHEMA] [--call CALL …]",
		Short: "Approve or reject many Calls that wait, with one signal",
		Long: `Approve or reject many Calls that wait, with one signal. A table shows them first: what
is alike is said once, what differs stands in columns, and a Call that waits in many
instances and is the same there is one row. Then it asks; --yes does without. What is
decided on is what the table shows, and nothing else.

--where is a JSON Schema over the parameters, as they would run. ID may be an instance,
refunds/13. It waits until each decision is taken or refused, and says why one was
refused (exit 2). One signal decides on 1,000 Calls: where more fit, run it again.`,
		Example: `  starter decide refunds --tool settle --where '{"properties": {"amount": {"maximum": 600}}}' --approve
  starter decide refunds --call 1.2@13 --call 1.2@19 --reject --reason "not without a receipt"
  starter decide refunds --tool settle --approve --by ann --group finance --yes --json`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.read(); err != nil {
				return err
			}
			return decideMany(c.Context(), a, args[0], o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.approve, "approve", false, "let them run, as they are shown")
	f.BoolVar(&o.reject, "reject", false, "do not let them run; the --reason goes to the LLM")
	f.StringVar(&o.selection.Tool, "tool", "", "Calls of the tool of this `name`")
	f.StringVar(&o.where, "where", "", "Calls whose parameters fit this JSON Schema, as `JSON` or @file")
	f.StringArrayVar(&o.selection.Calls, "call", nil, "this `Call`; may be repeated. 1.2 is that Call in every instance")
	f.StringVar(&o.decision.Reason, "reason", "", "why; the LLM is told")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	f.BoolVar(&o.all, "all", false, "show every row of the table, however many there are")
	addByFlag(c, &o.decision.By)
	addGroupFlag(c, &o.decision.Groups)
	addKeyFlag(c, &o.key)
	return c
}

// read refuses what cannot be meant before anybody is asked.
func (o *deciding) read() (err error) {
	if o.approve == o.reject {
		return exit.Usagef("decide: want --approve or --reject")
	}
	o.decision.Kind = client.Approve
	if o.reject {
		o.decision.Kind = client.Reject
	}
	if o.where != "" {
		if o.selection.Where, err = jsonValue(o.where); err != nil {
			return exit.Usagef("read --where: %w", err)
		}
	}
	if err := decideBy(&o.decision, o.key); err != nil {
		return err
	}
	whole := o.decision
	whole.Call = "1.1" // any
	if err := whole.Validate(); err != nil {
		return exit.Usagef("decide: %w", err)
	}
	_, err = o.selection.Of(nil)
	if len(o.selection.Calls) > 0 {
		_, err = bulk.Selection{Where: o.selection.Where}.Of(nil)
	}
	return err
}

func decideMany(ctx context.Context, a *app.App, given string, o deciding) error {
	process, word, isInstance := protocol.ParseInstanceID(given)
	return a.VisitProcess(ctx, process, func(p *client.Process) error {
		waiting, err := p.Approvals(ctx)
		if err != nil {
			return err
		}
		var there []client.Approval
		for _, w := range waiting {
			if !isInstance || spelling.MatchesToken(word, w.Instance) {
				there = append(there, w)
			}
		}
		list, err := o.selection.Of(there)
		switch {
		case err != nil:
			return fmt.Errorf("decide on %s: %w", given, err)
		case len(list) == 0 && len(there) == 0:
			return exit.Usagef("decide on %s: nobody is waited for", given)
		case len(list) == 0:
			return exit.Usagef("decide on %s: none of the %s that wait there fits", given, print.Plural(len(there), "Call"))
		}
		return o.show(ctx, a, p, list)
	})
}

// show shows what is to be decided on, asks, and decides.
func (o *deciding) show(ctx context.Context, a *app.App, p *client.Process, list []client.Approval) error {
	fitting := len(list)
	list = list[:min(fitting, client.MaxDecisionsAtOnce)]
	table := bulk.TableOf(list)
	report := decidedMany{Process: p.ID(), Signal: "decide", Decision: o.decision.Kind, Fitting: fitting, Table: table, Decisions: []decidedOne{}}
	if !a.JSON {
		out := a.Out
		if o.yes {
			out = a.Err // the result alone goes to standard output
		}
		if _, err := io.WriteString(out, tableText(p.ID(), table, fitting, print.TableWidth(out), o.all)); err != nil {
			return err
		}
	}
	if !o.yes {
		agreed, asked := ask(a, fmt.Sprintf("%s %s? [y]es, [n]o: ", o.decision.Kind, theseCalls(len(list))))
		switch {
		case !asked && a.JSON:
			if err := a.PrintJSON(report); err != nil {
				return err
			}
			fallthrough
		case !asked:
			return exit.Usagef("decide on %s: nothing is decided: --yes decides", p.ID())
		case !agreed:
			return a.Print("nothing is decided\n")
		}
	}
	outcomes, err := p.DecideMany(ctx, bulk.Decisions(list, o.decision))
	if err != nil {
		return err
	}
	report.add(outcomes)
	if a.JSON {
		err = a.PrintJSON(report)
	} else {
		err = a.Print(report.text())
	}
	if err == nil && report.Refused > 0 {
		err = exit.With(exit.Usage)
	}
	return err
}

func theseCalls(n int) string {
	if n == 1 {
		return "this Call"
	}
	return fmt.Sprintf("these %d Calls", n)
}

// ask asks whoever sits at the terminal; asked is false where nobody does.
func ask(a *app.App, question string) (agreed, asked bool) {
	typed, isFile := a.In.(*os.File)
	if a.JSON || !isFile || !term.IsTerminal(int(typed.Fd())) || print.TerminalWidth(a.Err) == 0 {
		return false, false
	}
	_, _ = io.WriteString(a.Err, question)
	line, _ := bufio.NewReader(typed).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", true
}
