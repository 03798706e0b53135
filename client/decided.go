package client

import (
	"cmp"
	"context"
	"slices"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
)

// PastDecision is a person's decision on a Call or a Plan of a process.
type PastDecision struct {
	Process string
	Decided
	// Last is the latest decision on the same Call, by anybody, with its outcome; nil if the record has none.
	Last *Decided
}

// DecidedBy lists a person's decisions, questions and hand-overs on Calls and Plans in all processes, the latest first:
// at most limit of them, without the first skip. It leaves out what standing orders decided in the person's name. total
// counts all. It reads the chains, as Insights does.
func (c *Client) DecidedBy(ctx context.Context, who policy.Identity, skip, limit int) (list []PastDecision, total int,
	err error) {
	_, err = c.eachDecision(ctx, func(process string, d Decided) {
		if d.OrderID == "" && d.Identity().Is(who) {
			list = append(list, PastDecision{Process: process, Decided: d})
		}
	})
	slices.SortStableFunc(list, func(a, b PastDecision) int {
		return cmp.Or(b.DecidedAt.Compare(a.DecidedAt), cmp.Compare(a.CallID, b.CallID))
	})
	total = len(list)
	list = list[min(max(skip, 0), total):]
	list = list[:min(max(limit, 0), len(list))]
	byProcess := map[string][]*PastDecision{}
	for n := range list {
		byProcess[list[n].Process] = append(byProcess[list[n].Process], &list[n])
	}
	for process, some := range byProcess {
		if err == nil {
			err = c.addOutcomes(ctx, process, some)
		}
	}
	return list, total, err
}

// addOutcomes adds to decisions in one process what its record has about them; nothing if the process was forgotten.
func (c *Client) addOutcomes(ctx context.Context, process string, list []*PastDecision) error {
	from := list[0].Idea
	for _, d := range list {
		if from = min(from, d.Idea); approval.IsRemark(d.Kind) {
			from = 1 // an earlier remark says what was shown
		}
	}
	chain := c.Chain(process)
	to, err := chain.checkIdeaNumber(ctx, "list decisions of", 0)
	if err != nil {
		return ctx.Err()
	}
	made, err := chain.decisions(ctx, from, to)
	if err != nil {
		return ctx.Err()
	}
	for _, d := range list {
		for n := range made {
			one := &made[n]
			if one.CallID != d.CallID {
				continue
			}
			if one.Kind == d.Kind && one.Idea == d.Idea && one.DecidedAt.Equal(d.DecidedAt) {
				d.Decided = *one
			}
			if d.CallID != "" && !approval.IsRemark(one.Kind) && !one.DecidedAt.Before(d.DecidedAt) {
				d.Last = one
			}
		}
	}
	return nil
}

// eachDecision calls do for people's decisions, questions and hand-overs on Calls and Plans in all processes. unread
// counts the processes whose record cannot be read.
func (c *Client) eachDecision(ctx context.Context, do func(process string, d Decided)) (unread int, err error) {
	processes, err := c.archive.Processes(ctx)
	for _, id := range processes {
		if spelling.IsPart(id) {
			continue // the whole's record has the decisions of its parts
		}
		made, failed := c.decisionsOf(ctx, id)
		switch {
		case ctx.Err() != nil:
			return unread, ctx.Err()
		case failed != nil:
			unread++
		}
		for _, d := range made {
			do(id, d)
		}
	}
	return unread, err
}

// decisionsOf lists people's decisions, questions and hand-overs on Calls and Plans of one process, without the details
// that addOutcomes adds. The list is cached up to the latest Idea: sealed Ideas never change.
func (c *Client) decisionsOf(ctx context.Context, id string) ([]Decided, error) {
	chain := c.archive.Chain(id)
	last, err := chain.checkIdeaNumber(ctx, "count decisions of", 0)
	if err != nil {
		return nil, err
	}
	known, _ := c.decided.Get(id)
	if known.at > last { // forgotten, and started anew
		known = cachedDecisions{}
	}
	known.decisions = slices.Clip(known.decisions) // others may read the same array
	for known.at < last {
		log, err := chain.chains.LogAt(ctx, id, known.at+1)
		if err != nil {
			return known.decisions, err
		}
		known.at++
		for _, e := range log {
			if d := e.Decision; d != nil && (d.CallID != "" || d.PlanRequest != nil) && d.Kind != Comment &&
				d.Kind != approval.SteerDeputy {
				if known.conditions == nil {
					known.conditions = chain.conditions(ctx)
				}
				known.decisions = append(known.decisions, Decided{Idea: known.at, when: known.conditions[d.Tool],
					Decision: approval.Decision{Kind: d.Kind, CallID: d.CallID, Tool: d.Tool, DecidedBy: d.DecidedBy,
						Account: d.Account, OrderID: d.OrderID, DecidedAt: d.DecidedAt, WaitingSince: d.WaitingSince,
						PlanRequest: d.PlanRequest}})
			}
		}
	}
	c.decided.Add(id, known)
	return known.decisions, nil
}

// maxCachedDecisions bounds how many processes' decisions are cached.
const maxCachedDecisions = 10_000

// cachedDecisions are the decisions of a process up to an Idea, without their Calls' parameters.
type cachedDecisions struct {
	at         int
	decisions  []Decided
	conditions map[string]jsonval.Object // the conditions of policies, by Tool
}

// conditions returns the conditions on parameters in the Tools' policies, from the first Idea. They never change.
func (c *Chain) conditions(ctx context.Context) map[string]jsonval.Object {
	all := map[string]jsonval.Object{}
	source, err := c.chains.Load(ctx, c.process, 1)
	if err != nil {
		return all
	}
	idea, _ := ideafile.ReadIdeaWithCheckedTools(source)
	if idea == nil {
		return all
	}
	for _, t := range idea.Tools {
		asks := idea.Config.Approval.PolicyFor(t.Name, t.Approval)
		if asks != nil && asks.ParamsCondition != nil {
			all[t.Name] = jsonval.AsObject(jsonval.At(t.Source, "_approval", "when"))
		}
	}
	return all
}
