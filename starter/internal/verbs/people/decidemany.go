package people

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"processidea/client"
	"processidea/client/bulk"
	"processidea/model/ideafile/spelling"
	"processidea/protocol"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
)

// selectOptions says which Calls decide is about, and what to decide.
type selectOptions struct {
	bulk.Selection
	where                string // JSON, or @file
	approve, reject, yes bool
	decision             client.Decision
}

func addSelectionFlags(f *pflag.FlagSet, g *actOptions) {
	o := &g.many
	addDeciderFlags(f, g)
	f.Lookup("reason").Usage = "why; the LLM is told"
	f.BoolVar(&o.approve, "approve", false, "let them run, as they are shown")
	f.BoolVar(&o.reject, "reject", false, "do not let them run; the --reason goes to the LLM")
	f.StringVar(&o.Tool, "tool", "", "Calls of the tool of this `name`")
	f.StringVar(&o.where, "where", "", "Calls whose parameters fit this JSON Schema, as `JSON` or @file")
	f.StringArrayVar(&o.Calls, "call", nil, "this `Call`; may be repeated. 1.2 means Call 1.2 of every instance")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	f.BoolVar(&g.all, "all", false, "show every row of the table, however many there are")
}

// validate refuses invalid flags before it contacts a server.
func (o *selectOptions) validate(g *actOptions) (err error) {
	if o.approve == o.reject {
		return exit.Usagef("decide: want --approve or --reject")
	}
	if o.where != "" {
		if o.Where, err = jsonValue(o.where); err != nil {
			return exit.Usagef("read --where: %w", err)
		}
	}
	if o.decision, err = g.decision(); err != nil {
		return err
	}
	o.decision.Kind = client.Approve
	if o.reject {
		o.decision.Kind = client.Reject
	}
	whole := o.decision
	whole.Call = "1.1" // any valid id
	if err := whole.Validate(); err != nil {
		return exit.Usagef("decide: %w", err)
	}
	_, err = o.Of(nil)
	if len(o.Calls) > 0 {
		_, err = bulk.Selection{Where: o.Where}.Of(nil)
	}
	return err
}

func decideMany(ctx context.Context, a *app.App, g *actOptions) (done bool, err error) {
	o := &g.many
	if err := o.validate(g); err != nil {
		return true, err
	}
	process, word, isInstance := protocol.ParseInstanceID(g.args[0])
	return true, a.WithProcess(ctx, process, func(p *client.Process) error {
		there, err := p.Approvals(ctx)
		if err != nil {
			return err
		}
		if isInstance {
			there = slices.DeleteFunc(there,
				func(a client.Approval) bool { return !spelling.MatchesToken(word, a.Instance) })
		}
		list, err := o.Of(there)
		switch {
		case err != nil:
			return fmt.Errorf("decide on %s: %w", g.args[0], err)
		case len(list) == 0 && len(there) == 0:
			return exit.Usagef("decide on %s: nothing waits for a person", g.args[0])
		case len(list) == 0:
			return exit.Usagef("decide on %s: none of the %s that wait there fits", g.args[0],
				print.Plural(len(there), "Call"))
		}
		return o.confirmAndDecide(ctx, a, p, list, g.all)
	})
}

// confirmAndDecide shows the Calls, asks for confirmation unless --yes was given, and decides.
func (o *selectOptions) confirmAndDecide(ctx context.Context, a *app.App, p *client.Process, list []client.Approval,
	all bool) error {
	fitting := len(list)
	list = list[:min(fitting, client.MaxDecisionsPerSignal)]
	table := bulk.TableOf(list)
	report := decidedMany{Process: p.ID(), Signal: "decide", Decision: o.decision.Kind, Fitting: fitting, Table: table,
		Decisions: []decidedOne{}}
	if !a.JSON {
		out := a.Out
		if o.yes {
			out = a.Err // only the result goes to standard output
		}
		text := shownTableOf(table, list).text(p.ID(), fitting, print.TableWidth(out), all)
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	if !o.yes {
		agreed, asked := a.Ask(fmt.Sprintf("%s %s? [y]es, [n]o: ", o.decision.Kind, numberOfCalls(len(list))))
		switch {
		case !asked && a.JSON:
			if err := a.PrintJSON(report); err != nil {
				return err
			}
			fallthrough
		case !asked:
			return exit.Usagef("decide on %s: nothing was decided: confirm with --yes", p.ID())
		case !agreed:
			return a.Print("nothing was decided\n")
		}
	}
	outcomes, err := p.DecideMany(ctx, bulk.Decisions(list, o.decision))
	if err != nil {
		return err
	}
	report.add(outcomes)
	err = a.Show(report, report.text())
	if err == nil && report.Refused > 0 {
		err = exit.WithCode(exit.Usage)
	}
	return err
}

func numberOfCalls(n int) string {
	if n == 1 {
		return "this Call"
	}
	return fmt.Sprintf("these %d Calls", n)
}
