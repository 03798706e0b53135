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
	"processidea/store/blobs"
)

// PastDecision is a person's decision on a Call or a Plan of a process.
type PastDecision struct {
	ProcessID string
	RecordedDecision
	// LatestOnSameCall is the latest decision on the same Call, by anybody, with its outcome; nil if the record has
	// none.
	LatestOnSameCall *RecordedDecision
}

// DecisionPage is a part of what a person decided.
type DecisionPage struct {
	// Decisions are the latest first. TotalCount counts those of the other parts too.
	Decisions  []PastDecision
	TotalCount int
	// OrderApprovedCountByProcess is how many Calls standing orders approved in the person's name, by the id of the
	// process that somebody started. They are not among Decisions.
	OrderApprovedCountByProcess map[string]int
}

// DecisionsBy lists a person's decisions, questions and hand-overs on Calls and Plans in all processes: at most limit
// of them, without the first skip. It reads the chains, as Insights does.
func (c *Client) DecisionsBy(ctx context.Context, identity policy.Identity, skip,
	limit int) (page DecisionPage, err error) {
	page.OrderApprovedCountByProcess = map[string]int{}
	var list []PastDecision
	_, err = c.eachDecision(ctx, func(processID string, d RecordedDecision) {
		switch {
		case !d.Identity().Is(identity):
		case d.StandingOrderID != "":
			page.OrderApprovedCountByProcess[blobs.RootProcessID(processID)]++
		default:
			list = append(list, PastDecision{ProcessID: processID, RecordedDecision: d})
		}
	})
	slices.SortStableFunc(list, func(a, b PastDecision) int {
		return cmp.Or(b.DecidedAt.Compare(a.DecidedAt), cmp.Compare(a.CallID, b.CallID))
	})
	page.TotalCount = len(list)
	list = list[min(max(skip, 0), page.TotalCount):]
	list = list[:min(max(limit, 0), len(list))]
	decisionsByProcess := map[string][]*PastDecision{}
	for n := range list {
		decisionsByProcess[list[n].ProcessID] = append(decisionsByProcess[list[n].ProcessID], &list[n])
	}
	for processID, decisions := range decisionsByProcess {
		if err == nil {
			err = c.addOutcomes(ctx, processID, decisions)
		}
	}
	page.Decisions = list
	return page, err
}

// addOutcomes adds to decisions in one process what its record has about them; nothing if the process was forgotten.
func (c *Client) addOutcomes(ctx context.Context, processID string, pastDecisions []*PastDecision) error {
	fromIdeaNumber := pastDecisions[0].IdeaNumber
	for _, d := range pastDecisions {
		if fromIdeaNumber = min(fromIdeaNumber, d.IdeaNumber); approval.IsRemark(d.Kind) {
			fromIdeaNumber = 1 // an earlier remark says what was shown
		}
	}
	chain := c.Chain(processID)
	toIdeaNumber, err := chain.checkIdeaNumber(ctx, "list decisions of", 0)
	if err != nil {
		return ctx.Err()
	}
	decisions, err := chain.decisions(ctx, fromIdeaNumber, toIdeaNumber)
	if err != nil {
		return ctx.Err()
	}
	for _, d := range pastDecisions {
		for n := range decisions {
			recordedDecision := &decisions[n]
			if recordedDecision.CallID != d.CallID {
				continue
			}
			if recordedDecision.Kind == d.Kind && recordedDecision.IdeaNumber == d.IdeaNumber &&
				recordedDecision.DecidedAt.Equal(d.DecidedAt) {
				d.RecordedDecision = *recordedDecision
			}
			if d.CallID != "" && !approval.IsRemark(recordedDecision.Kind) &&
				!recordedDecision.DecidedAt.Before(d.DecidedAt) {
				d.LatestOnSameCall = recordedDecision
			}
		}
	}
	return nil
}

// eachDecision calls visit for people's decisions, questions and hand-overs on Calls and Plans in all processes.
// unreadableProcessCount counts the processes whose record cannot be read.
func (c *Client) eachDecision(ctx context.Context, visit func(processID string,
	d RecordedDecision)) (unreadableProcessCount int, err error) {
	processIDs, err := c.archive.ProcessIDs(ctx)
	for _, id := range processIDs {
		if spelling.IsPartID(id) {
			continue // the whole's record has the decisions of its parts
		}
		decisions, readErr := c.decisionsOf(ctx, id)
		switch {
		case ctx.Err() != nil:
			return unreadableProcessCount, ctx.Err()
		case readErr != nil:
			unreadableProcessCount++
		}
		for _, d := range decisions {
			visit(id, d)
		}
	}
	return unreadableProcessCount, err
}

// decisionsOf lists people's decisions, questions and hand-overs on Calls and Plans of one process, without the details
// that addOutcomes adds. The list is cached up to the latest Idea: sealed Ideas never change.
func (c *Client) decisionsOf(ctx context.Context, processID string) ([]RecordedDecision, error) {
	chain := c.archive.Chain(processID)
	lastIdeaNumber, err := chain.checkIdeaNumber(ctx, "count decisions of", 0)
	if err != nil {
		return nil, err
	}
	cache, _ := c.decisionCache.Get(processID)
	if cache.lastIdeaNumber > lastIdeaNumber { // forgotten, and started anew
		cache = cachedDecisions{}
	}
	cache.decisions = slices.Clip(cache.decisions) // others may read the same array
	for cache.lastIdeaNumber < lastIdeaNumber {
		log, err := chain.chainStore.LogAt(ctx, processID, cache.lastIdeaNumber+1)
		if err != nil {
			return cache.decisions, err
		}
		cache.lastIdeaNumber++
		for _, e := range log {
			if d := e.Decision; d != nil && (d.CallID != "" || d.PlanRequest != nil) && d.Kind != Comment &&
				d.Kind != approval.SteerDeputy {
				if cache.policyConditionByTool == nil {
					cache.policyConditionByTool = chain.policyConditionByTool(ctx)
				}
				cache.decisions = append(cache.decisions,
					RecordedDecision{IdeaNumber: cache.lastIdeaNumber,
						policyCondition: cache.policyConditionByTool[d.Tool],
						Decision: approval.Decision{Kind: d.Kind, CallID: d.CallID, Tool: d.Tool,
							DecidedBy: d.DecidedBy,
							Account:   d.Account, StandingOrderID: d.StandingOrderID, DecidedAt: d.DecidedAt,
							WaitingSince: d.WaitingSince, PlanRequest: d.PlanRequest}})
			}
		}
	}
	c.decisionCache.Add(processID, cache)
	return cache.decisions, nil
}

// maxCachedDecisions bounds how many processes' decisions are cached.
const maxCachedDecisions = 10_000

// cachedDecisions are the decisions of a process up to an Idea, without their Calls' parameters.
type cachedDecisions struct {
	lastIdeaNumber        int
	decisions             []RecordedDecision
	policyConditionByTool map[string]jsonval.Object // the conditions of policies, by Tool
}

// policyConditionByTool returns the conditions on parameters in the Tools' policies, from the first Idea. They never
// change.
func (c *Chain) policyConditionByTool(ctx context.Context) map[string]jsonval.Object {
	conditionByTool := map[string]jsonval.Object{}
	firstIdea, err := c.chainStore.Load(ctx, c.processID, 1)
	if err != nil {
		return conditionByTool
	}
	idea, _ := ideafile.ReadIdeaWithoutCheckingTools(firstIdea)
	if idea == nil {
		return conditionByTool
	}
	for _, t := range idea.Tools {
		toolPolicy := idea.Config.ApprovalOversight.PolicyFor(t.Name, t.Approval)
		if toolPolicy != nil && toolPolicy.ParamsCondition != nil {
			conditionByTool[t.Name] = jsonval.AsObject(jsonval.Lookup(t.Source, "_approval", "when"))
		}
	}
	return conditionByTool
}
