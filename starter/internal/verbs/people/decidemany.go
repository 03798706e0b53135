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

// decideManyOptions says which Calls decide is about, and what to decide.
type decideManyOptions struct {
	bulk.Selection
	paramsSchemaText                         string // JSON, or @file
	shouldApprove, shouldReject, isConfirmed bool
	decision                                 client.Decision
}

func addSelectionFlags(f *pflag.FlagSet, opts *actionOptions) {
	o := &opts.selection
	addDeciderFlags(f, opts)
	f.Lookup("reason").Usage = "why; the LLM is told"
	f.BoolVar(&o.shouldApprove, "approve", false, "let them run, as they are shown")
	f.BoolVar(&o.shouldReject, "reject", false, "do not let them run; the --reason goes to the LLM")
	f.StringVar(&o.Tool, "tool", "", "Calls of the tool of this `name`")
	f.StringVar(&o.paramsSchemaText, "where", "", "Calls whose parameters fit this JSON Schema, as `JSON` or @file")
	f.StringArrayVar(&o.CallIDs, "call", nil, "this `Call`; may be repeated. 1.2 means Call 1.2 of every instance")
	f.BoolVar(&o.isConfirmed, "yes", false, "do not ask")
	f.BoolVar(&opts.isAllFlagSet, "all", false, "show every row of the table, however many there are")
}

// validate refuses invalid flags before it contacts a server.
func (o *decideManyOptions) validate(opts *actionOptions) (err error) {
	if o.shouldApprove == o.shouldReject {
		return exit.Usagef("decide: want --approve or --reject")
	}
	if o.paramsSchemaText != "" {
		if o.ParamsSchema, err = parseJSONFlag(o.paramsSchemaText); err != nil {
			return exit.Usagef("read --where: %w", err)
		}
	}
	if o.decision, err = opts.newDecision(); err != nil {
		return err
	}
	o.decision.Kind = client.Approve
	if o.shouldReject {
		o.decision.Kind = client.Reject
	}
	sampleDecision := o.decision
	sampleDecision.CallID = "1.1" // any valid id
	if err := sampleDecision.Validate(); err != nil {
		return exit.Usagef("decide: %w", err)
	}
	_, err = o.Select(nil)
	if len(o.CallIDs) > 0 {
		_, err = bulk.Selection{ParamsSchema: o.ParamsSchema}.Select(nil)
	}
	return err
}

func decideMany(ctx context.Context, a *app.App, opts *actionOptions) (isHandled bool, err error) {
	o := &opts.selection
	if err := o.validate(opts); err != nil {
		return true, err
	}
	processID, typedToken, isInstance := protocol.ParseInstanceID(opts.args[0])
	return true, a.WithProcess(ctx, processID, func(p *client.Process) error {
		waitingApprovals, err := p.Approvals(ctx)
		if err != nil {
			return err
		}
		if isInstance {
			waitingApprovals = slices.DeleteFunc(waitingApprovals,
				func(a client.Approval) bool { return !spelling.MatchesInstanceToken(typedToken, a.Instance) })
		}
		selectedApprovals, err := o.Select(waitingApprovals)
		switch {
		case err != nil:
			return fmt.Errorf("decide on %s: %w", opts.args[0], err)
		case len(selectedApprovals) == 0 && len(waitingApprovals) == 0:
			return exit.Usagef("decide on %s: nothing waits for a person", opts.args[0])
		case len(selectedApprovals) == 0:
			return exit.Usagef("decide on %s: none of the %s that wait there fits", opts.args[0],
				print.Plural(len(waitingApprovals), "Call"))
		}
		return o.confirmAndDecide(ctx, a, p, selectedApprovals, opts.isAllFlagSet)
	})
}

// confirmAndDecide shows the Calls, asks for confirmation unless --yes was given, and decides.
func (o *decideManyOptions) confirmAndDecide(ctx context.Context, a *app.App, p *client.Process,
	approvals []client.Approval,
	showAllRows bool) error {
	matchCount := len(approvals)
	approvals = approvals[:min(matchCount, client.MaxDecisionsPerSignal)]
	table := bulk.TableOf(approvals)
	outcome := decideManyOutcome{Process: p.ID(), Signal: "decide", DecisionKind: o.decision.Kind,
		MatchCount: matchCount,
		Table:      table, Decisions: []decisionOutcome{}}
	if !a.WritesJSON {
		tableWriter := a.Out
		if o.isConfirmed {
			tableWriter = a.Err // only the result goes to standard output
		}
		text := newCallTable(table, approvals).text(p.ID(), matchCount, print.TableWidth(tableWriter), showAllRows)
		if _, err := io.WriteString(tableWriter, text); err != nil {
			return err
		}
	}
	if !o.isConfirmed {
		hasAgreed, wasAsked := a.Ask(fmt.Sprintf("%s %s? [y]es, [n]o: ", o.decision.Kind,
			theseCallsText(len(approvals))))
		switch {
		case !wasAsked && a.WritesJSON:
			if err := a.PrintJSON(outcome); err != nil {
				return err
			}
			fallthrough
		case !wasAsked:
			return exit.Usagef("decide on %s: nothing was decided: confirm with --yes", p.ID())
		case !hasAgreed:
			return a.Print("nothing was decided\n")
		}
	}
	outcomes, err := p.DecideMany(ctx, bulk.DecisionForEach(approvals, o.decision))
	if err != nil {
		return err
	}
	outcome.add(outcomes)
	err = a.Show(outcome, outcome.text())
	if err == nil && outcome.RefusedCount > 0 {
		err = exit.WithCode(exit.Usage)
	}
	return err
}

func theseCallsText(n int) string {
	if n == 1 {
		return "this Call"
	}
	return fmt.Sprintf("these %d Calls", n)
}
