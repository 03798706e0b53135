package people

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
)

// Plan shows the Plans that wait as a whole.
func Plan(a *app.App) *cobra.Command {
	mermaid, calls := false, false
	c := &cobra.Command{
		Use:   "plan ID",
		Short: "Show the Plan that waits for a person before anything of it runs",
		Long: `Show the Plan that waits, as a whole, for a person: its Calls, the instances that they
are for, and what earlier processes of the same Idea took. A process has its Plans wait
with config.approval.plan, or where it was started with --plan-first; one that is split
has a Plan in each part. Nothing of a Plan has begun before approve-plan or amend-plan.

--mermaid draws it; --calls prints its Calls alone, as a file to change for amend-plan.`,
		Example: `  starter plan refund-17
  starter plan refund-17 --calls > calls.json`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.VisitProcess(c.Context(), args[0], func(p *client.Process) error {
				plans, err := p.Plans(c.Context())
				switch {
				case err != nil:
					return err
				case calls:
					return printCalls(a, plans)
				case a.JSON:
					return a.PrintJSON(plans)
				case len(plans) == 0:
					return a.Print("no Plan waits\n")
				}
				return a.Print(plansText(plans, mermaid))
			})
		},
	}
	c.Flags().BoolVar(&mermaid, "mermaid", false, "draw each Plan as Mermaid")
	c.Flags().BoolVar(&calls, "calls", false, "print the Calls alone, as JSON")
	return c
}

func printCalls(a *app.App, plans []client.Plan) error {
	if len(plans) != 1 {
		return exit.Usagef("print the Calls of a Plan: %s; with --json all are printed", print.Plural(len(plans), "Plan waits"))
	}
	return a.PrintJSON(plans[0].WrittenCalls())
}

func plansText(plans []client.Plan, mermaid bool) string {
	var b strings.Builder
	for _, p := range plans {
		fmt.Fprintf(&b, "%s: %s waits since %s\n  %s\n",
			print.Printable(p.Process), p.Name(), p.Since.Local().Format(time.DateTime), print.Printable(p.Summary()))
		if p.Past != nil {
			fmt.Fprintf(&b, "  %s\n", print.Printable(p.Past.String()))
		} else {
			b.WriteString("  no earlier process of the same path has completed, so that its cost is not known\n")
		}
		if who := p.DecidersInWords(); who != "" {
			fmt.Fprintf(&b, "  decided by %s\n", print.Printable(who))
		}
		for _, c := range p.Calls {
			fmt.Fprintf(&b, "  %s", c.CallID)
			if len(c.Instances) > 0 {
				fmt.Fprintf(&b, " @%s", print.Printable(strings.Join(c.Instances, ",")))
			}
			fmt.Fprintf(&b, "  %s\n", print.Compact(c.Written.RawValue(), 300))
			if c.Error != "" {
				fmt.Fprintf(&b, "    it will fail: %s\n", print.Printable(c.Error))
			}
		}
		if p.NotAmendable != "" {
			fmt.Fprintf(&b, "  %s\n", p.NotAmendable)
		}
		fmt.Fprintf(&b, "  digest %s\n", p.Digest)
		if mermaid {
			b.WriteString("\n" + strings.TrimSuffix(p.Mermaid, "\n") + "\n")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s; decide with: starter approve-plan|amend-plan|reject-plan ID\n", print.Plural(len(plans), "Plan"))
	return b.String()
}

// planFlags are what the decisions on a Plan are given.
type planFlags struct {
	digest, key, file string
	all               bool
	groups            []string
	by                byFlags
}

// PlanDecisions are the verbs that decide on a Plan.
func PlanDecisions(a *app.App) []*cobra.Command {
	return []*cobra.Command{
		planVerb(a, approval.SteerApprovePlan, "Have a Plan that waits run, as it was shown",
			"  starter approve-plan refund-17\n  starter approve-plan refund-17 --digest 5f0c… --reason checked"),
		planVerb(a, approval.SteerAmendPlan, "Have a Plan that waits run with other Calls: some taken out, changed or added",
			"  starter amend-plan refund-17 --file calls.json --reason \"one is enough\"\n  starter plan refund-17 --calls > calls.json   # to begin with"),
		planVerb(a, approval.SteerRejectPlan, "Have nothing of a Plan run; the next Request reads why",
			"  starter reject-plan refund-17 --reason \"ask the customer first\""),
	}
}

var planVerbs = map[string]string{
	approval.SteerApprovePlan: `Have a Plan that waits, as a whole, run as it was shown. The approval policies of its
Calls' Tools hold as ever: who approves the Plan approves none of its Calls by that.
REQUEST is the number of the Request that made it, 0 for a Plan that begins the
process; without it the only one that waits is meant.`,
	approval.SteerAmendPlan: `Have a Plan that waits, as a whole, run with other Calls. --file holds all of them as a JSON list, as
"starter plan ID --calls" prints them. Each is checked as the LLM's are; if one cannot
run, nothing changes and you are told why. REQUEST is as with approve-plan.`,
	approval.SteerRejectPlan: `Have nothing of a Plan run that waits as a whole. The next Request reads why. A direct
Plan of stage "optimal" gives way to the LLM; one of stage "complete" fails its
instances. REQUEST is as with approve-plan.`,
}

func planVerb(a *app.App, kind, short, example string) *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use: kind + " ID [REQUEST]", Short: short, Long: planVerbs[kind], Example: example,
		RunE: func(c *cobra.Command, args []string) error { return decidePlan(c.Context(), a, kind, args, f) },
	}
	c.Flags().StringVar(&f.digest, "digest", "", "the `digest` of the Plan as you saw it: another one is not decided on")
	if kind == approval.SteerAmendPlan {
		c.Flags().StringVar(&f.file, "file", "", "the JSON `file` with all Calls of the Plan")
	} else {
		c.Flags().BoolVar(&f.all, "all", false, "every Plan that waits, in all parts")
	}
	addGroupFlag(c, &f.groups)
	addKeyFlag(c, &f.key)
	f.by.add(c)
	return c
}

func decidePlan(ctx context.Context, a *app.App, kind string, args []string, f planFlags) error {
	who := client.Decision{By: f.by.by, Groups: f.groups}
	if err := decideBy(&who, f.key); err != nil {
		return err
	}
	d := client.PlanDecision{Kind: kind, Digest: f.digest, By: who.By, Groups: who.Groups, Reason: f.by.reason, Key: who.Key}
	if kind == approval.SteerRejectPlan && strings.TrimSpace(d.Reason) == "" {
		return exit.Usagef("%s %s: a rejection says why: --reason is missing", kind, args[0])
	}
	if kind == approval.SteerAmendPlan {
		calls, err := readCalls(f.file)
		if err != nil {
			return exit.Usagef("%s %s: --file: %w", kind, args[0], err)
		}
		d.Calls = calls
	}
	return steer(ctx, a, args[0], kind, func(p *client.Process) error {
		plans, err := p.Plans(ctx)
		if err == nil {
			plans, err = meantPlans(plans, args, f)
		}
		if err != nil {
			return err
		}
		for _, plan := range plans {
			d.Request, d.Digest = plan.Request, plan.Digest
			if err := p.DecidePlan(ctx, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// meantPlans picks the Plans that a decision is about.
func meantPlans(plans []client.Plan, args []string, f planFlags) ([]client.Plan, error) {
	if len(args) > 1 {
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return nil, exit.Usagef("decide on a Plan of %s: REQUEST is the number of a Request, not %q", args[0], args[1])
		}
		plans = slices.DeleteFunc(plans, func(p client.Plan) bool { return p.Request != n })
	}
	if f.digest != "" {
		plans = slices.DeleteFunc(plans, func(p client.Plan) bool { return !strings.HasPrefix(p.Digest, f.digest) })
	}
	switch {
	case len(plans) == 0:
		return nil, exit.Usagef("decide on a Plan of %s: no such Plan waits (starter plan %s)", args[0], args[0])
	case len(plans) > 1 && !f.all:
		return nil, exit.Usagef("decide on a Plan of %s: %d wait: name one with --digest, or all with --all", args[0], len(plans))
	}
	return plans, nil
}

// readCalls reads a JSON list of Calls.
func readCalls(file string) ([]any, error) {
	if file == "" {
		return nil, fmt.Errorf("it is missing: a JSON file with all Calls of the Plan")
	}
	v, err := jsonValue("@" + file)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("want a list of Calls, not %s", jsonval.TypeOf(v))
	}
	return list, nil
}
