package people

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/flags"
	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

// orderFlags are what allow is given.
type orderFlags struct {
	tool, when, until string
	count             int
	groups            []string
	key               string // a file
	by                byFlags
}

// Allow gives a standing order, or lists those that were given.
func Allow(a *app.App) *cobra.Command {
	var o orderFlags
	c := &cobra.Command{
		Use:   "allow ID [ORDER] [--tool TOOL]",
		Short: "Give leave beforehand: Calls of a Tool that fit are approved",
		Long: `Give leave beforehand, a standing order: Calls of a Tool that wait for a person, and
fit, are approved under it, as if you approved each, until it has approved as many as
--count says, or --until is reached. ORDER is a name of your own (default: one is made
up), by which "disallow" ends it. It takes the right to decide on these Calls, and is on record with each.

It never covers a Call that a person has changed, nor one that somebody must look at
for another reason than the Tool's policy. With a key ("starter keys person") it is
signed, as it must be for a Tool whose decisions are. Without --tool the orders are listed.`,
		Example: `  starter allow refunds small --tool settle --count 40 --until 2026-12-04T18:00:00Z \
    --when '{"properties": {"values": {"properties": {"cents": {"maximum": 60000}}}}}'
  starter allow refunds`,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 2:
				return allow(c.Context(), a, args[0], args[1], o)
			case o.tool != "":
				return allow(c.Context(), a, args[0], o.tool+"-"+uuid.NewString()[:8], o)
			}
			return listOrders(c.Context(), a, args[0])
		},
	}
	c.Flags().StringVar(&o.tool, "tool", "", "the `Tool` whose Calls are approved")
	c.Flags().StringVar(&o.when, "when", "", "the JSON `Schema` that their parameters fit, or @file (default any)")
	flags.Int(c.Flags(), &o.count, "count", 1, approval.MaxOrderCount, "how many Calls are approved at most")
	c.Flags().StringVar(&o.until, "until", "", "the `time` from which none is, such as 2026-12-04T18:00:00Z")
	addGroupFlag(c, &o.groups)
	addKeyFlag(c, &o.key)
	o.by.add(c)
	return c
}

func allow(ctx context.Context, a *app.App, process, id string, o orderFlags) error {
	giver := client.Decision{By: o.by.by, Groups: o.groups}
	if err := decideBy(&giver, o.key); err != nil {
		return err
	}
	order := client.StandingOrder{ID: id, Tool: o.tool, Count: o.count, By: giver.By, Groups: giver.Groups, Reason: o.by.reason, Key: giver.Key}
	if o.when != "" {
		v, err := jsonValue(o.when)
		if err != nil {
			return exit.Usagef("allow %s: --when: %w", id, err)
		}
		if order.When = jsonval.AsObject(v); order.When == nil {
			return exit.Usagef("allow %s: --when is a JSON Schema, an object", id)
		}
	}
	if o.until != "" {
		at, err := time.Parse(time.RFC3339, o.until)
		if err != nil {
			return exit.Usagef("allow %s: --until is a time such as 2026-12-04T18:00:00Z, not %q", id, o.until)
		}
		order.Until = at
	}
	if err := order.Validate(); err != nil {
		return exit.Usagef("allow %s: %w", id, err)
	}
	return steer(ctx, a, process, approval.SteerAllow, func(p *client.Process) error { return p.Allow(ctx, order) })
}

// Disallow ends a standing order.
func Disallow(a *app.App) *cobra.Command {
	var by byFlags
	c := &cobra.Command{
		Use:     "disallow ID ORDER",
		Short:   "End a standing order; what was approved under it stays so",
		Example: `  starter disallow refunds small --reason "the sale is over"`,
		RunE: func(c *cobra.Command, args []string) error {
			return steer(c.Context(), a, args[0], approval.SteerDisallow, func(p *client.Process) error { return p.Disallow(c.Context(), args[1], by.who()) })
		},
	}
	by.add(c)
	return c
}

// listOrders prints the standing orders of a process.
func listOrders(ctx context.Context, a *app.App, process string) error {
	return a.VisitProcess(ctx, process, func(p *client.Process) error {
		v, err := p.Status(ctx)
		switch {
		case err != nil:
			return err
		case a.JSON:
			return a.PrintJSON(append(approval.Orders{}, v.Orders...))
		case len(v.Orders) == 0:
			return a.Print("there is no standing order\n")
		}
		return a.Print(ordersText(v.Orders, time.Now()))
	})
}

// ordersInForce says, beside what waits, what of it is approved without asking anybody; "" where nothing is.
func ordersInForce(ctx context.Context, s *server.Session, process string) string {
	v, err := s.Process(process).Status(ctx)
	if err != nil {
		return "" // what waits was told all the same
	}
	now := time.Now()
	list := slices.DeleteFunc(v.Orders, func(o *approval.GivenOrder) bool { return !o.IsInForce(now) })
	if len(list) == 0 {
		return ""
	}
	return "standing orders:\n" + ordersText(list, now)
}

func ordersText(list approval.Orders, now time.Time) string {
	var b strings.Builder
	for _, o := range list {
		fmt.Fprintf(&b, "%s: %s", print.Printable(o.ID), print.Printable(o.Tool))
		if o.When != nil {
			fmt.Fprintf(&b, " where %s", print.Shown(o.When))
		}
		fmt.Fprintf(&b, ", %d approved", o.Approved)
		if o.Count > 0 {
			fmt.Fprintf(&b, " of %d, %d left", o.Count, o.Count-o.Approved)
		}
		if !o.Until.IsZero() {
			fmt.Fprintf(&b, ", until %s", o.Until.Local().Format(time.DateTime))
		}
		fmt.Fprintf(&b, ", by %s", print.Printable(o.Giver.Name))
		if o.Giver.Signed {
			b.WriteString(", signed")
		}
		switch {
		case o.Ended != nil:
			fmt.Fprintf(&b, "; ended by %s", print.Printable(o.Ended.By))
		case !o.IsInForce(now):
			b.WriteString("; over")
		}
		b.WriteString("\n")
	}
	return b.String()
}
