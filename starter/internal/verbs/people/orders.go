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
	"processidea/gateway/desk"
	"processidea/internal/flags"
	"processidea/model/approval"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/server"
)

func orderFlags(f *pflag.FlagSet, g *actOptions) {
	addDeciderFlags(f, g)
	f.StringVar(&g.order.Tool, "tool", "", "the `Tool` whose Calls are approved")
	f.StringVar(&g.when, "when", "", "the JSON `Schema` that their parameters must fit, or @file (default: any)")
	flags.Int(f, &g.order.Count, "count", 1, approval.MaxOrderCount, "how many Calls are approved at most")
	f.StringVar(&g.until, "until", "", "the `time` at which the order ends, such as 2026-12-04T18:00:00Z")
}

func addDeputyFlags(f *pflag.FlagSet, g *actOptions) {
	addDeciderFlags(f, g)
	f.StringVar(&g.to, "to", "", "the `name` of the deputy")
	f.StringVar(&g.from, "from", "", "the `time` at which it begins (default now)")
	f.StringVar(&g.until, "until", "", "the `time` at which it ends, such as 2026-12-04T18:00:00Z")
}

// deputy prepares naming a deputy.
func deputy(g *actOptions) (do action, err error) {
	by, err := g.decision()
	if err != nil {
		return nil, err
	}
	d := client.Deputy{To: g.to, By: by.By, Groups: by.Groups, Reason: by.Reason, Key: by.Key}
	if len(g.args) == 2 {
		d.ID = g.args[1]
	}
	var wrong error
	d.From, err = g.time("from", g.from)
	if d.Until, wrong = g.time("until", g.until); err != nil || wrong != nil {
		return nil, errors.Join(err, wrong)
	}
	return steering(func(ctx context.Context, p *client.Process, _ *actOptions) error {
		return p.NameDeputy(ctx, d)
	})(g)
}

// time parses the time in a flag; "" gives the zero time.
func (g *actOptions) time(flag, text string) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	if at, err = time.Parse(time.RFC3339, text); err != nil {
		return at, exit.Usagef("%s %s: --%s is a time such as 2026-12-04T18:00:00Z, not %q", g.verb, g.args[0], flag,
			text)
	}
	return at, nil
}

// allow prepares a standing order.
func allow(g *actOptions) (do action, err error) {
	o := &g.order
	if len(g.args) == 2 {
		o.ID = g.args[1]
	} else {
		o.ID = o.Tool + "-" + uuid.NewString()[:8]
	}
	giver, err := g.decision()
	if err != nil {
		return nil, err
	}
	o.By, o.Groups, o.Reason, o.Key = giver.By, giver.Groups, giver.Reason, giver.Key
	o.Until, err = g.time("until", g.until)
	if g.when != "" {
		v, wrong := jsonValue(g.when)
		if o.When = jsonval.AsObject(v); wrong != nil {
			err = errors.Join(err, exit.Usagef("allow %s: --when: %w", o.ID, wrong))
		} else if o.When == nil {
			err = errors.Join(err, exit.Usagef("allow %s: --when is a JSON Schema, an object", o.ID))
		}
	}
	if err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, exit.Usagef("allow %s: %w", o.ID, err)
	}
	return steering(func(ctx context.Context, p *client.Process, g *actOptions) error {
		return p.Allow(ctx, g.order)
	})(g)
}

// listOrders prints the standing orders of a process. It does nothing if the command line gives an order.
func listOrders(ctx context.Context, a *app.App, g *actOptions) (done bool, err error) {
	if len(g.args) == 2 || g.order.Tool != "" {
		return false, nil
	}
	return true, a.WithProcess(ctx, g.args[0], func(p *client.Process) error {
		v, err := p.Status(ctx)
		if err != nil {
			return err
		}
		return a.Show(append(approval.Orders{}, v.Orders...),
			cmp.Or(ordersText(v.Orders, p.Words(ctx), time.Now()), "there are no standing orders\n"))
	})
}

// ordersInForce lists the standing orders that are in force, or "" if there are none.
func ordersInForce(ctx context.Context, s *server.Session, process string) string {
	v, err := s.Process(process).Status(ctx)
	if err != nil {
		return "" // the waiting Calls were printed anyway
	}
	now := time.Now()
	list := slices.DeleteFunc(v.Orders, func(o *approval.OrderState) bool { return !o.IsInForce(now) })
	if len(list) == 0 {
		return ""
	}
	return "standing orders:\n" + ordersText(list, s.Process(process).Words(ctx), now)
}

// whenText says in words which Calls an order covers, or as JSON where the words would leave something out.
func whenText(o *approval.OrderState, words *shown.Words) string {
	terms := desk.RulesInWords(words.ParamsFormat(o.Tool), o.When, shown.English)
	if text := strings.Join(terms, " and "); !strings.Contains(text, desk.ForOperators) {
		return text
	}
	return print.OneLineJSON(o.When)
}

func ordersText(list approval.Orders, words *shown.Words, now time.Time) string {
	var b strings.Builder
	for _, o := range list {
		if o.To != "" {
			print.Fprintf(&b, "%s: deputy %s", o.ID, o.To)
		} else {
			print.Fprintf(&b, "%s: %s", o.ID, words.Tool(o.Tool))
		}
		if o.When != nil {
			print.Fprintf(&b, " where %s", whenText(o, words))
		}
		if o.To == "" {
			fmt.Fprintf(&b, ", %d approved", o.Approved)
		}
		if !o.From.IsZero() {
			fmt.Fprintf(&b, ", from %s", o.From.Local().Format(time.DateTime))
		}
		if o.Count > 0 {
			fmt.Fprintf(&b, " of %d, %d left", o.Count, o.Count-o.Approved)
		}
		if !o.Until.IsZero() {
			fmt.Fprintf(&b, ", until %s", o.Until.Local().Format(time.DateTime))
		}
		print.Fprintf(&b, ", by %s", o.Giver.Name)
		if o.Giver.Signed {
			b.WriteString(", signed")
		}
		switch {
		case o.Ended != nil:
			print.Fprintf(&b, "; ended by %s", o.Ended.By)
		case !o.IsInForce(now):
			b.WriteString("; over")
		}
		b.WriteString("\n")
	}
	return b.String()
}
