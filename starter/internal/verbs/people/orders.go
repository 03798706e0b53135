package people

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"processidea/client"
	"processidea/client/rulewords"
	"processidea/internal/flags"
	"processidea/model/approval"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

func addStandingOrderFlags(f *pflag.FlagSet, opts *actionOptions) {
	addDeciderFlags(f, opts)
	f.StringVar(&opts.standingOrder.Tool, "tool", "", "the `Tool` whose Calls are approved")
	f.StringVar(&opts.whenText, "when", "", "the JSON `Schema` that their parameters must fit, or @file (default: any)")
	flags.Int(f, &opts.standingOrder.MaxCalls, "count", 1, approval.MaxCallsPerOrder,
		"how many Calls are approved at most")
	f.StringVar(&opts.untilText, "until", "", "the `time` at which the order ends, such as 2026-12-04T18:00:00Z")
}

func addDeputyFlags(f *pflag.FlagSet, opts *actionOptions) {
	addDeciderFlags(f, opts)
	f.StringVar(&opts.recipient, "to", "", "the `name` of the deputy")
	f.StringVar(&opts.fromText, "from", "", "the `time` at which it begins (default now)")
	f.StringVar(&opts.untilText, "until", "", "the `time` at which it ends, such as 2026-12-04T18:00:00Z")
}

// prepareDeputy prepares naming a deputy.
func prepareDeputy(opts *actionOptions) (do processAction, err error) {
	decision, err := opts.newDecision()
	if err != nil {
		return nil, err
	}
	d := client.Deputy{DeputyName: opts.recipient, By: decision.By, Groups: decision.Groups, Reason: decision.Reason,
		Key: decision.Key}
	if len(opts.args) == 2 {
		d.OrderID = opts.args[1]
	}
	var untilErr error
	d.From, err = opts.parseTimeFlag("from", opts.fromText)
	if d.Until, untilErr = opts.parseTimeFlag("until", opts.untilText); err != nil || untilErr != nil {
		return nil, errors.Join(err, untilErr)
	}
	return asPrepareFunc(func(ctx context.Context, p *client.Process, _ *actionOptions) error {
		return p.NameDeputy(ctx, d)
	})(opts)
}

// parseTimeFlag parses the time in a flag; "" gives the zero time.
func (g *actionOptions) parseTimeFlag(flagName, text string) (parsed time.Time, err error) {
	if text == "" {
		return parsed, nil
	}
	if parsed, err = time.Parse(time.RFC3339, text); err != nil {
		return parsed, exit.Usagef("%s %s: --%s is a time such as 2026-12-04T18:00:00Z, not %q", g.verb, g.args[0],
			flagName, text)
	}
	return parsed, nil
}

// prepareStandingOrder prepares a standing order.
func prepareStandingOrder(opts *actionOptions) (do processAction, err error) {
	o := &opts.standingOrder
	if len(opts.args) == 2 {
		o.ID = opts.args[1]
	} else {
		o.ID = o.Tool + "-" + uuid.NewString()[:8]
	}
	decision, err := opts.newDecision()
	if err != nil {
		return nil, err
	}
	o.By, o.Groups, o.Reason, o.Key = decision.By, decision.Groups, decision.Reason, decision.Key
	o.Until, err = opts.parseTimeFlag("until", opts.untilText)
	if opts.whenText != "" {
		v, schemaErr := parseJSONFlag(opts.whenText)
		if o.ParamsCondition = jsonval.AsObject(v); schemaErr != nil {
			err = errors.Join(err, exit.Usagef("allow %s: --when: %w", o.ID, schemaErr))
		} else if o.ParamsCondition == nil {
			err = errors.Join(err, exit.Usagef("allow %s: --when is a JSON Schema, an object", o.ID))
		}
	}
	if err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, exit.Usagef("allow %s: %w", o.ID, err)
	}
	return asPrepareFunc(func(ctx context.Context, p *client.Process, opts *actionOptions) error {
		return p.Allow(ctx, opts.standingOrder)
	})(opts)
}

// listStandingOrders prints the standing orders of a process. It does nothing if the command line gives an order.
func listStandingOrders(ctx context.Context, a *app.App, opts *actionOptions) (isHandled bool, err error) {
	if len(opts.args) == 2 || opts.standingOrder.Tool != "" {
		return false, nil
	}
	return true, a.WithProcess(ctx, opts.args[0], func(p *client.Process) error {
		v, err := p.Status(ctx)
		if err != nil {
			return err
		}
		return a.Show(append(approval.StandingOrders{}, v.Orders...),
			cmp.Or(standingOrdersText(v.Orders, p.Presenter(ctx), time.Now()), "there are no standing orders\n"))
	})
}

// ordersInForceText lists the standing orders that are in force, or "" if there are none.
func ordersInForceText(ctx context.Context, s *server.Session, processID string) string {
	v, err := s.Process(processID).Status(ctx)
	if err != nil {
		return "" // the waiting Calls were printed anyway
	}
	now := time.Now()
	ordersInForce := slices.DeleteFunc(v.Orders, func(o *approval.StandingOrderState) bool { return !o.IsInForce(now) })
	if len(ordersInForce) == 0 {
		return ""
	}
	return "standing orders:\n" + standingOrdersText(ordersInForce, s.Process(processID).Presenter(ctx), now)
}

// orderConditionText says in words which Calls an order covers, or as JSON where the words would leave something out.
func orderConditionText(o *approval.StandingOrderState, presenter *shown.Presenter) string {
	terms, coversWholeCondition := rulewords.ConditionTexts(presenter.ParamsFormat(o.Tool), o.ParamsCondition,
		shown.English, nil)
	if !coversWholeCondition {
		return print.OneLineJSON(o.ParamsCondition)
	}
	return strings.Join(terms, " and ")
}

func standingOrdersText(orders approval.StandingOrders, presenter *shown.Presenter, now time.Time) string {
	var b strings.Builder
	for _, o := range orders {
		if o.DeputyName != "" {
			print.Fprintf(&b, "%s: deputy %s", o.ID, o.DeputyName)
		} else {
			print.Fprintf(&b, "%s: %s", o.ID, presenter.ToolTitle(o.Tool))
		}
		if o.ParamsCondition != nil {
			print.Fprintf(&b, " where %s", orderConditionText(o, presenter))
		}
		if o.DeputyName == "" {
			fmt.Fprintf(&b, ", %d approved", o.ApprovedCount)
		}
		if !o.From.IsZero() {
			fmt.Fprintf(&b, ", from %s", o.From.Local().Format(time.DateTime))
		}
		if o.MaxCalls > 0 {
			fmt.Fprintf(&b, " of %d, %d left", o.MaxCalls, o.MaxCalls-o.ApprovedCount)
		}
		if !o.Until.IsZero() {
			fmt.Fprintf(&b, ", until %s", o.Until.Local().Format(time.DateTime))
		}
		print.Fprintf(&b, ", by %s", o.Giver.Name)
		if o.Giver.HasVerifiedProof {
			b.WriteString(", signed")
		}
		switch {
		case o.Ending != nil:
			print.Fprintf(&b, "; ended by %s", o.Ending.EndedBy)
		case !o.IsInForce(now):
			b.WriteString("; over")
		}
		b.WriteString("\n")
	}
	return b.String()
}
