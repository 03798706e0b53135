package people

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"processidea/client"
	"processidea/model/approval"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
)

// Plan shows the Plans that wait for a person as a whole.
func Plan(a *app.App) *cobra.Command {
	withMermaid, onlyCalls := false, false
	c := app.NewCommand("plan ID", "Show the Plan that waits for a person before anything of it runs",
		`Show the Plan that waits, as a whole, for a person: its Calls, the instances that they
are for, and what earlier processes of the same Idea took. A process has its Plans wait
with config.approval.plan, or where it was started with --plan-first; one that is split
has a Plan in each part. Nothing of a Plan has begun before approve-plan or amend-plan.

--mermaid draws it; --calls prints its Calls alone, as a file to change for amend-plan.`,
		`  starter plan refund-17
  starter plan refund-17 --calls > calls.json`,
		func(ctx context.Context, args []string) error {
			return a.WithProcess(ctx, args[0], func(p *client.Process) error {
				plans, err := p.WaitingPlans(ctx)
				switch {
				case err != nil:
					return err
				case onlyCalls:
					return printPlanCalls(a, plans)
				}
				return a.Show(plans, cmp.Or(plansText(plans, withMermaid), "no Plan waits\n"))
			})
		})
	c.Flags().BoolVar(&withMermaid, "mermaid", false, "draw each Plan as Mermaid")
	c.Flags().BoolVar(&onlyCalls, "calls", false, "print the Calls alone, as JSON")
	return c
}

func printPlanCalls(a *app.App, plans []client.DescribedPlan) error {
	if len(plans) != 1 {
		return exit.Usagef("print the Calls of a Plan: %s; with --json all are printed",
			print.Plural(len(plans), "Plan waits"))
	}
	return a.PrintJSON(plans[0].WrittenCalls())
}

func plansText(plans []client.DescribedPlan, withMermaid bool) string {
	var b strings.Builder
	for _, p := range plans {
		print.Fprintf(&b, "%s\n  %s: %s waits since %s\n  %s\n",
			p.Sentence, p.Process, p.Name(), p.Since.Local().Format(time.DateTime), p.Summary())
		if p.Averages != nil {
			print.Fprintf(&b, "  %s\n", p.Averages)
		} else {
			b.WriteString("  its cost is unknown: no earlier process of the same path has completed\n")
		}
		if deciders := p.DecidersInWords(); deciders != "" {
			print.Fprintf(&b, "  decided by %s\n", deciders)
		}
		for _, c := range p.Calls {
			fmt.Fprintf(&b, "  %s", c.CallID)
			if len(c.Instances) > 0 {
				print.Fprintf(&b, " @%s", strings.Join(c.Instances, ","))
			}
			fmt.Fprintf(&b, "  %s\n", print.Compact(c.WrittenCall.AsWritten(), 300))
			if c.Error != "" {
				print.Fprintf(&b, "    it will fail: %s\n", c.Error)
			}
		}
		for _, line := range p.Disagreements {
			print.Fprintf(&b, "  %s\n", line)
		}
		if p.NotAmendableReason != "" {
			fmt.Fprintf(&b, "  %s\n", p.NotAmendableReason)
		}
		fmt.Fprintf(&b, "  digest %s\n", p.Digest)
		if withMermaid {
			b.WriteString("\n" + strings.TrimSuffix(p.Mermaid, "\n") + "\n")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s; decide with: starter approve-plan|amend-plan|reject-plan ID\n",
		print.Plural(len(plans), "Plan"))
	return b.String()
}

func addPlanFlags(f *pflag.FlagSet, opts *actionOptions) {
	addDeciderFlags(f, opts)
	f.StringVar(&opts.shownDigest, "digest", "", "the `digest` of the Plan that you saw: no other is decided on")
	if opts.verb == approval.SteerAmendPlan {
		f.StringVar(&opts.inputFile, "file", "", "the JSON `file` with all Calls of the Plan")
	} else {
		f.BoolVar(&opts.isAllFlagSet, "all", false, "every Plan that waits, in all parts")
	}
}

// preparePlanDecision prepares a decision on one Plan, or on all with --all.
func preparePlanDecision(opts *actionOptions) (processAction, error) {
	decision, err := opts.newDecision()
	if err != nil {
		return nil, err
	}
	d := client.PlanDecision{Kind: strings.TrimSuffix(opts.verb, "-plan"), By: decision.By, Groups: decision.Groups,
		Reason: decision.Reason, Key: decision.Key}
	if d.Kind == client.Reject && strings.TrimSpace(d.Reason) == "" {
		return nil, exit.Usagef("%s %s: --reason is missing: say why it is rejected", opts.verb, opts.processID)
	}
	if d.Kind == client.Amend {
		if d.Calls, err = readPlanCalls(opts.inputFile); err != nil {
			return nil, exit.Usagef("%s %s: --file: %w", opts.verb, opts.processID, err)
		}
	}
	return asPrepareFunc(func(ctx context.Context, p *client.Process, opts *actionOptions) error {
		plans, err := p.WaitingPlans(ctx)
		if err == nil {
			plans, err = selectPlans(plans, opts)
		}
		for _, plan := range plans {
			d.RequestNumber, d.PlanDigest = plan.RequestNumber, plan.Digest
			if err == nil {
				_, err = p.DecidePlan(ctx, d)
			}
		}
		return err
	})(opts)
}

// selectPlans picks the Plans that a decision is about.
func selectPlans(plans []client.DescribedPlan, opts *actionOptions) ([]client.DescribedPlan, error) {
	if len(opts.args) > 1 {
		n, err := strconv.Atoi(opts.args[1])
		if err != nil {
			return nil, exit.Usagef("decide on a Plan of %s: REQUEST is the number of a Request, not %q",
				opts.processID, opts.args[1])
		}
		plans = slices.DeleteFunc(plans, func(p client.DescribedPlan) bool { return p.RequestNumber != n })
	}
	if opts.shownDigest != "" {
		plans = slices.DeleteFunc(plans, func(p client.DescribedPlan) bool {
			return !strings.HasPrefix(p.Digest,
				opts.shownDigest)
		})
	}
	switch {
	case len(plans) == 0:
		return nil, exit.Usagef("decide on a Plan of %s: no such Plan waits (starter plan %s)", opts.processID,
			opts.processID)
	case len(plans) > 1 && !opts.isAllFlagSet:
		return nil, exit.Usagef("decide on a Plan of %s: %d wait: name one with --digest, or all with --all",
			opts.processID, len(plans))
	}
	return plans, nil
}

// readPlanCalls reads a JSON list of Calls.
func readPlanCalls(file string) ([]any, error) {
	if file == "" {
		return nil, fmt.Errorf("it is missing: a JSON file with all Calls of the Plan")
	}
	v, err := parseJSONFlag("@" + file)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("want a list of Calls, not %s", jsonval.TypeOf(v))
	}
	return list, nil
}
