package works

import (
	"context"
	"fmt"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/script"
	"processidea/client/actions"
	"processidea/model/jsonval"
)

// The maximum numbers of actions that a hosted server may bill.
const (
	maxActionsPerInstance      = 7    // of a batch, including its share of the process's actions
	maxStreamedInstanceActions = 8    // of a batch whose Plan comes over seconds, in more signals
	maxActionsPerCall          = 3    // of a process of one instance
	maxActionsPerRequest       = 5    // of a process of one instance
	maxHeartbeatsPerCallSecond = 0.05 // per second that a Call runs
	maxWatcherQueriesPerHour   = 60   // per hour
)

// actionCase is a run whose actions are counted.
type actionCase struct {
	name           string
	maxPerInstance float64 // its limit, regardless of Calls and Requests; 0: the limit counts these too
	hasDelegates   bool    // each is a process with its own instance, and there is no limit
	run            func() error
}

// actionsWork counts what a hosted server bills for the works of this bench, the project's examples, long Calls, and a
// watching client.
func actionsWork(ctx context.Context, r Round) error {
	cases := append(r.singleInstanceCases(ctx), r.manyInstanceCases(ctx)...)
	for _, w := range append(cases, r.exampleCases(ctx)...) {
		tallyBefore := r.Tally()
		counts, err := r.countActions(ctx, w.run)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		w.addFigure(r, counts, r.Tally().Since(tallyBefore))
	}
	return r.measureLongCalls(ctx)
}

// addFigure compares the actions with the limit: per instance for a batch, otherwise in total. Above the limit it lists
// the actions by kind.
func (w actionCase) addFigure(r Round, counts actions.Counts, tally bed.Tally) {
	name, total, limitText := w.name+": actions", float64(counts.Total()),
		fmt.Sprintf("%d a Call + %d a Request", maxActionsPerCall, maxActionsPerRequest)
	maxActions := float64(maxActionsPerCall*tally.Calls + maxActionsPerRequest*tally.Requests)
	switch {
	case w.hasDelegates:
		maxActions, limitText = 0, "none with delegates"
	case w.maxPerInstance > 0:
		name, total, maxActions, limitText = name+" an instance", total/float64(tally.Instances), w.maxPerInstance,
			fmt.Sprintf("%v an instance", w.maxPerInstance)
	case tally.Instances > 1:
		maxActions += float64(maxActionsPerInstance * tally.Instances)
		limitText = fmt.Sprintf("%.0f: %d an instance + %s", maxActions, maxActionsPerInstance, limitText)
	default:
		limitText = fmt.Sprintf("%.0f: %s", maxActions, limitText)
	}
	r = r.withAxis("instances", tally.Instances)
	r.FindOrAddFigure(name, "").Add(total).WithLimit(maxActions).WithLimitDescription(limitText)
	if maxActions == 0 || total <= maxActions {
		return
	}
	for kind, n := range jsonval.Sorted(counts) {
		r.FindOrAddFigure(w.name+": of which "+kind, "").Add(float64(n))
	}
}

// countActions counts the actions during run.
func (r Round) countActions(ctx context.Context, run func() error) (actions.Counts, error) {
	countsBefore, err := r.CountBilledActions(ctx)
	if err != nil {
		return nil, err
	}
	if err := run(); err != nil {
		return nil, err
	}
	countsAfter, err := r.CountBilledActions(ctx)
	return countsAfter.IncreaseSince(countsBefore), err
}

// singleInstanceCases are processes of one instance.
func (r Round) singleInstanceCases(ctx context.Context) []actionCase {
	n := r.pickSize(200, 6)
	chain := func(id, tool string) func() error {
		return func() error { _, err := r.runRequestChain(ctx, id, tool, n); return err }
	}
	diamond := func(id string, inOneRequest bool) func() error {
		return func() error { _, err := r.runDiamond(ctx, id, script.DiamondReplyLines(inOneRequest, "")); return err }
	}
	fanout := func(id, tool string) func() error {
		return func() error { _, err := r.runFanout(ctx, id, tool, n); return err }
	}
	return []actionCase{
		{name: "chain", run: chain("chain", "instant")},
		{name: "chain of pure Calls", run: chain("chain-pure", "instantPure")},
		{name: "diamond", run: diamond("diamond", false)},
		{name: "diamond in one Request", run: diamond("diamond-one", true)},
		{name: "stream", run: func() error { _, err := r.closingByteLags(ctx, 20); return err }},
		{name: "fanout", run: fanout("fanout", "instant")},
		{name: "fanout of pure Calls", run: fanout("fanout-pure", "instantPure")},
	}
}

// manyInstanceCases are processes with one Call for each of many instances.
func (r Round) manyInstanceCases(ctx context.Context) []actionCase {
	return []actionCase{
		{name: "batch", maxPerInstance: maxActionsPerInstance, run: func() error {
			_, _, err := r.runBatch(ctx, r.pickSize(100, 30), "")
			return err
		}},
		// The process is split into parts, except in a quick run.
		{name: "instances by a Plan", maxPerInstance: maxActionsPerInstance, run: func() error {
			_, err := r.runInstances(ctx, r.pickSize(300, 30), bed.GoToolJSON("instant"))
			return err
		}},
	}
}

// exampleCases returns the examples to count. It leaves out, among others, the examples with tools of other programs
// (custom-worker, mcp), the one that waits for two people's signatures (payout), and the one whose first step is
// another example (ripening).
func (r Round) exampleCases(ctx context.Context) (list []actionCase) {
	for _, name := range []string{"sentiment", "employees", "latent", "research", "diamond", "weather", "moderation",
		"hardened-moderation", "refunds"} {
		one := actionCase{name: "example " + name, hasDelegates: name == "research",
			run: func() error { return r.RunExample(ctx, name) }}
		if name == "moderation" {
			one.maxPerInstance = maxStreamedInstanceActions
		}
		list = append(list, one)
	}
	return list
}

// measureLongCalls runs one long Call in each instance and watches them. The longest takes 55 seconds, a little less
// than its timeout. Each takes some milliseconds longer than the one before, so that something happens all the time.
func (r Round) measureLongCalls(ctx context.Context) error {
	callCount, spacingMillis := r.pickSize(100, 10), r.pickSize(550, 60)
	runningSeconds := float64(spacingMillis*callCount*(callCount+1)/2) / 1000 // in seconds, all Calls together
	pollsBefore := r.PollCount()
	counts, err := r.countActions(ctx, func() error {
		p, err := r.Start(ctx, bed.ProcessSpec{ID: "waiting", ToolJSON: bed.GoToolJSON("pause"),
			StateMessages: bed.NewStateMessages(callCount, spacingMillis),
			MessagesJSON:  bed.PlanMessage("complete", `{"_tool": "pause", "n": "†state.n", "_outputPath": "done"}`)})
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
	r = r.withAxis("calls", callCount)
	r.FindOrAddFigure("waiting: heartbeats a second", "").Add(float64(counts[actions.KindHeartbeats]) / runningSeconds).
		WithLimit(maxHeartbeatsPerCallSecond).WithLimitDescription(fmt.Sprint(maxHeartbeatsPerCallSecond,
		" a second a running Call"))
	r.FindOrAddFigure("waiting: queries of a watcher", "").Add(float64(counts[actions.KindQueries])).
		WithLimit(maxWatcherQueriesPerHour).WithLimitDescription(fmt.Sprint(maxWatcherQueriesPerHour,
		" an hour a watcher"))
	r.FindOrAddFigure("waiting: polls, which are not billed", "").Add(float64(r.PollCount() - pollsBefore))
	return nil
}
