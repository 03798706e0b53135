package works

import (
	"context"
	"fmt"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/script"
	"processidea/client/actions"
	"processidea/model/jsonval"
)

// The limits of what a hosted server bills.
const (
	maxForInstance  = 7    // of a batch, with all that it takes of its process
	maxForCall      = 3    // of a process of one instance
	maxForRequest   = 5    // of a process of one instance
	maxForHeartbeat = 0.05 // in a second, for a Call that runs
	maxForWatcher   = 60   // in an hour
)

// actionCase is a run whose actions are counted.
type actionCase struct {
	name         string
	isBatch      bool // its limit is per instance, regardless of Calls and Requests
	hasDelegates bool // each is a process with an instance of its own, and nothing is promised
	run          func() error
}

// actionsWork counts what a hosted server bills for the works of this bench, the project's examples, Calls that take
// long, and somebody who watches.
func actionsWork(ctx context.Context, r Round) error {
	list := append(r.singleInstanceCases(ctx), r.ofManyInstances(ctx)...)
	for _, w := range append(list, r.ofExamples(ctx)...) {
		before := r.Tally()
		counts, err := r.actionsOf(ctx, w.run)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		w.addFigure(r, counts, r.Tally().Since(before))
	}
	return r.waitingWork(ctx)
}

// addFigure compares the actions with the limit: for a batch per instance, otherwise in total. Above the limit it lists
// them by kind.
func (w actionCase) addFigure(r Round, counts actions.Counts, done bed.Tally) {
	name, total, each := w.name+": actions", float64(counts.Total()),
		fmt.Sprintf("%d a Call + %d a Request", maxForCall, maxForRequest)
	maxActions := float64(maxForCall*done.Calls + maxForRequest*done.Requests)
	switch {
	case w.hasDelegates:
		maxActions, each = 0, "none with delegates"
	case w.isBatch:
		name, total, maxActions, each = name+" an instance", total/float64(done.Instances), maxForInstance,
			fmt.Sprintf("%d an instance", maxForInstance)
	case done.Instances > 1:
		maxActions += float64(maxForInstance * done.Instances)
		each = fmt.Sprintf("%.0f: %d an instance + %s", maxActions, maxForInstance, each)
	default:
		each = fmt.Sprintf("%.0f: %s", maxActions, each)
	}
	r = r.withAxis("instances", done.Instances)
	r.Figure(name, "").Add(total).WithLimit(maxActions).InWords(each)
	if maxActions == 0 || total <= maxActions {
		return
	}
	for kind, n := range jsonval.Sorted(counts) {
		r.Figure(w.name+": of which "+kind, "").Add(float64(n))
	}
}

// actionsOf counts the actions of a run.
func (r Round) actionsOf(ctx context.Context, run func() error) (actions.Counts, error) {
	before, err := r.Actions(ctx)
	if err != nil {
		return nil, err
	}
	if err := run(); err != nil {
		return nil, err
	}
	after, err := r.Actions(ctx)
	return after.Since(before), err
}

// singleInstanceCases are processes of one instance.
func (r Round) singleInstanceCases(ctx context.Context) []actionCase {
	n := r.size(200, 6)
	chain := func(id, tool string) func() error {
		return func() error { _, err := r.runChain(ctx, id, tool, n); return err }
	}
	diamond := func(id string, oneRequest bool) func() error {
		return func() error { _, err := r.runDiamond(ctx, id, script.DiamondLines(oneRequest, "")); return err }
	}
	fanout := func(id, tool string) func() error {
		return func() error { _, err := r.runFanout(ctx, id, tool, n); return err }
	}
	return []actionCase{
		{name: "chain", run: chain("chain", "instant")},
		{name: "chain of pure Calls", run: chain("chain-pure", "instantPure")},
		{name: "diamond", run: diamond("diamond", false)},
		{name: "diamond in one Request", run: diamond("diamond-one", true)},
		{name: "stream", run: func() error { _, err := r.closingByteToTool(ctx, 20); return err }},
		{name: "fanout", run: fanout("fanout", "instant")},
		{name: "fanout of pure Calls", run: fanout("fanout-pure", "instantPure")},
	}
}

// ofManyInstances are processes with one Call for each of many instances.
func (r Round) ofManyInstances(ctx context.Context) []actionCase {
	return []actionCase{
		{name: "batch", isBatch: true, run: func() error {
			_, _, err := r.runBatch(ctx, r.size(100, 30), "")
			return err
		}},
		// In parts, unless it is quick.
		{name: "instances by a Plan", isBatch: true, run: func() error {
			_, err := r.runInstances(ctx, r.size(300, 30), bed.GoTool("instant"))
			return err
		}},
	}
}

// ofExamples are all examples but those with tools of other programs (custom-worker, mcp), the one that waits for the
// signatures of two people (payout), and the one whose first step is another example again (ripening).
func (r Round) ofExamples(ctx context.Context) (list []actionCase) {
	for _, name := range []string{"sentiment", "employees", "latent", "research", "diamond", "weather", "moderation",
		"hardened-moderation", "refunds"} {
		list = append(list, actionCase{
			name: "example " + name, isBatch: name == "moderation", hasDelegates: name == "research",
			run: func() error { return r.RunExample(ctx, name) },
		})
	}
	return list
}

// waitingWork runs Calls that take up to 55 seconds, the longest a little less than their timeout, one in each
// instance, so that something happens all the time, and watches them. Each takes some milliseconds longer than the one
// before.
func (r Round) waitingWork(ctx context.Context) error {
	n, spacing := r.size(100, 10), r.size(550, 60)
	running := float64(spacing*n*(n+1)/2) / 1000 // seconds, all Calls together
	polls := r.Polls()
	counts, err := r.actionsOf(ctx, func() error {
		p, err := r.Start(ctx, bed.Process{ID: "waiting", Tool: bed.GoTool("pause"),
			States:  bed.NumberStates(n, spacing),
			Message: bed.PlanMessage("complete", `{"_tool": "pause", "n": "†state.n", "_outputPath": "done"}`)})
		if err != nil {
			return err
		}
		if err := r.Watch(ctx, p.ID()); err != nil {
			return err
		}
		_, err = r.Await(ctx, p)
		return err
	})
	if err != nil {
		return fmt.Errorf("waiting: %w", err)
	}
	r = r.withAxis("calls", n)
	r.Figure("waiting: heartbeats a second", "").Add(float64(counts[actions.Heartbeats]) / running).
		WithLimit(maxForHeartbeat).InWords(fmt.Sprint(maxForHeartbeat, " a second a running Call"))
	r.Figure("waiting: queries of a watcher", "").Add(float64(counts[actions.Queries])).
		WithLimit(maxForWatcher).InWords(fmt.Sprint(maxForWatcher, " an hour a watcher"))
	r.Figure("waiting: polls, which are not billed", "").Add(float64(r.Polls() - polls))
	return nil
}
