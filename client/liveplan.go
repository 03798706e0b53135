package client

import (
	"context"
	"slices"
	"strings"

	"processidea/internal/safego"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/protocol"
)

// maxQueriedInstances bounds how many instances are queried for the status of their Calls. With more, the process
// reports what they last reported to it.
const maxQueriedInstances = 32

// maxQueriedParts bounds how many parts' Plans are added up, since more would take too long.
const maxQueriedParts = 200

// LivePlan returns the Calls of the latest Plan of a running process, and how many instances have each Call in which
// status now. With many instances, a Call counts as running from its delivery until its instance's report. Each part of
// a split process has its own Plan: equal Plans are added up; otherwise no Calls are returned.
func (p *Process) LivePlan(ctx context.Context) (*DrawablePlan, error) {
	v, err := p.Status(ctx)
	if err != nil {
		return nil, err
	}
	if len(v.Parts) > 0 {
		return p.livePlanOfParts(ctx, v.Parts)
	}
	d, callIDs, err := p.reportedPlan(ctx)
	if err == nil && len(v.Instances) <= maxQueriedInstances && len(callIDs) > 0 {
		err = p.recountInInstances(ctx, d, callIDs)
	}
	return d, err
}

// reportedPlan is LivePlan from the instances' last reports, and also returns the ids of the Calls.
func (p *Process) reportedPlan(ctx context.Context) (d *DrawablePlan, callIDs []string, err error) {
	var progress protocol.PlanProgress
	d, err = &DrawablePlan{}, p.client.query(ctx, p.id, protocol.QueryPlanProgress, &progress)
	for _, c := range progress.Calls {
		d.Calls, d.InstanceCountsByStatus, callIDs = append(d.Calls, c.WrittenCall.AsWritten()),
			append(d.InstanceCountsByStatus, c.CountByStatus),
			append(callIDs, c.CallID)
	}
	return d, callIDs, err
}

// recountInInstances counts again, from each instance's own answer.
func (p *Process) recountInInstances(ctx context.Context, d *DrawablePlan, callIDs []string) error {
	instances, err := p.Instances(ctx)
	if err != nil {
		return err
	}
	clear(d.InstanceCountsByStatus)
	for _, i := range instances {
		for _, c := range i.Calls {
			id, _, _ := strings.Cut(c.ID, "@")
			if n := slices.Index(callIDs, id); n >= 0 {
				d.addCount(n, c.Status, 1)
			}
		}
	}
	return nil
}

func (d *DrawablePlan) addCount(callIndex int, status ideafile.CallStatus, delta int) {
	if d.InstanceCountsByStatus[callIndex] == nil {
		d.InstanceCountsByStatus[callIndex] = map[ideafile.CallStatus]int{}
	}
	d.InstanceCountsByStatus[callIndex][status] += delta
}

// livePlanOfParts adds up the Plans of parts; for parts that have ended it reads their last Idea.
func (p *Process) livePlanOfParts(ctx context.Context, parts []protocol.PartView) (*DrawablePlan, error) {
	plans := make([]*DrawablePlan, len(parts))
	if len(parts) > maxQueriedParts {
		return &DrawablePlan{}, nil
	}
	err := safego.ForEach(ctx, "client.plan", len(parts), maxConcurrentQueries,
		func(ctx context.Context, n int) (err error) {
			switch partID := parts[n].ProcessID; parts[n].Status {
			case "": // not begun
			case loop.StatusRunning, loop.StatusPaused:
				plans[n], _, err = p.client.Process(partID).reportedPlan(ctx)
			default:
				plans[n], err = p.client.Chain(partID).PlanWithStatus(ctx)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	return sumPlans(plans), nil
}

// sumPlans adds up Plans with the same Calls; it returns an empty Plan if they differ.
func sumPlans(plans []*DrawablePlan) *DrawablePlan {
	sum := &DrawablePlan{}
	for _, d := range plans {
		switch {
		case d == nil || len(d.Calls) == 0:
			continue
		case sum.Calls == nil:
			sum.Calls, sum.InstanceCountsByStatus = d.Calls, make([]map[ideafile.CallStatus]int, len(d.Calls))
		case !jsonval.Equal(any(sum.Calls), any(d.Calls)):
			return &DrawablePlan{}
		}
		for n, counts := range d.InstanceCountsByStatus {
			for status, added := range counts {
				sum.addCount(n, status, added)
			}
		}
	}
	return sum
}
