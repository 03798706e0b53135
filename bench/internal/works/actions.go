package works

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/script"
	"processidea/client/actions"
)

// The limits of what a hosted server bills.
const (
	maxForInstance  = 7    // of a batch, with all that it takes of its process
	maxForCall      = 3    // of a process of one instance
	maxForRequest   = 5    // of a process of one instance
	maxForHeartbeat = 0.05 // in a second, for a Call that runs
	maxForWatcher   = 60   // in an hour
)

// billed is something whose actions are counted.
type billed struct {
	name         string
	isBatch      bool // its limit is that of an instance alone, whatever Calls and Requests it takes
	hasDelegates bool // each is a process with an instance of its own, and nothing is promised
	run          func() error
}

// actionsWork counts what a hosted server bills for the works of this bench, the project's examples, Calls that take
// long, and somebody who watches.
func actionsWork(ctx context.Context, b *bed.Bed, r *report.Record, s Size) error {
	list := append(ofOneInstance(ctx, b, s), ofManyInstances(ctx, b, s)...)
	for _, w := range append(list, ofExamples(ctx, b)...) {
		before := b.Tally()
		taken, err := takenBy(ctx, b, w.run)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		w.figure(r, taken, b.Tally().Since(before))
	}
	return waitingWork(ctx, b, r, s)
}

// figure holds what was taken against the limit: of a batch for each instance, else for all. Of what passes it the
// kinds are told.
func (w billed) figure(r *report.Record, taken actions.Counts, done bed.Tally) {
	name, total, each := w.name+": actions", float64(taken.Total()),
		fmt.Sprintf("%d a Call + %d a Request", maxForCall, maxForRequest)
	most := float64(maxForCall*done.Calls + maxForRequest*done.Requests)
	switch {
	case w.hasDelegates:
		most, each = 0, "none with delegates"
	case w.isBatch:
		name, total, most, each = name+" an instance", total/float64(done.Instances), maxForInstance,
			fmt.Sprintf("%d an instance", maxForInstance)
	case done.Instances > 1:
		most += float64(maxForInstance * done.Instances)
		each = fmt.Sprintf("%.0f: %d an instance + %s", most, maxForInstance, each)
	default:
		each = fmt.Sprintf("%.0f: %s", most, each)
	}
	r.Figure(name, "").On("instances", done.Instances).Add(total).AtMost(most).InWords(each)
	if most == 0 || total <= most {
		return
	}
	for _, kind := range slices.Sorted(maps.Keys(taken)) {
		r.Figure(w.name+": of which "+kind, "").On("instances", done.Instances).Add(float64(taken[kind]))
	}
}

// takenBy counts what something takes.
func takenBy(ctx context.Context, b *bed.Bed, run func() error) (actions.Counts, error) {
	before, err := b.Actions(ctx)
	if err != nil {
		return nil, err
	}
	if err := run(); err != nil {
		return nil, err
	}
	after, err := b.Actions(ctx)
	return after.Since(before), err
}

// ofOneInstance are processes of one instance.
func ofOneInstance(ctx context.Context, b *bed.Bed, s Size) []billed {
	n := s.of(200, 6)
	return []billed{
		{name: "chain", run: func() error { _, err := runChain(ctx, b, "chain", "instant", n); return err }},
		{name: "chain of pure Calls",
			run: func() error { _, err := runChain(ctx, b, "chain-pure", "instantPure", n); return err }},
		{name: "diamond", run: func() error {
			_, err := runDiamond(ctx, b, "diamond", script.DiamondLines(false, ""))
			return err
		}},
		{name: "diamond in one Request",
			run: func() error {
				_, err := runDiamond(ctx, b, "diamond-one", script.DiamondLines(true, ""))
				return err
			}},
		{name: "stream", run: func() error { _, err := closingByteToTool(ctx, b, 20); return err }},
		{name: "fanout", run: func() error { _, err := runFanout(ctx, b, "fanout", "instant", n); return err }},
		{name: "fanout of pure Calls",
			run: func() error { _, err := runFanout(ctx, b, "fanout-pure", "instantPure", n); return err }},
	}
}

// ofManyInstances are processes with one Call for each of many instances.
func ofManyInstances(ctx context.Context, b *bed.Bed, s Size) []billed {
	return []billed{
		{name: "batch", isBatch: true, run: func() error {
			one := []string{`{"_instance":"*","_tool":"instant","n":"†state.n","_outputPath":"done"}`}
			_, _, err := runBatch(ctx, b, s.of(100, 30), []string{script.Reply(one, `{"all":"†state.done"}`, "")})
			return err
		}},
		// In parts, unless it is quick.
		{name: "instances by a Plan", isBatch: true, run: func() error {
			_, err := runInstances(ctx, b, s.of(300, 30), bed.GoTool("instant"))
			return err
		}},
	}
}

// ofExamples are all examples but those with tools of other programs (custom-worker, mcp), the one that waits for the
// signatures of two people (payout), and the one whose first step is another example again (ripening).
func ofExamples(ctx context.Context, b *bed.Bed) (list []billed) {
	for _, name := range []string{"sentiment", "employees", "latent", "research", "diamond", "weather", "moderation",
		"hardened-moderation", "refunds"} {
		list = append(list, billed{
			name: "example " + name, isBatch: name == "moderation", hasDelegates: name == "research",
			run: func() error { return b.RunExample(ctx, name) },
		})
	}
	return list
}

// waitingWork runs Calls that take up to 55 seconds, the longest a little less than their timeout, one in each
// instance, so that something happens all the time, and watches them.
func waitingWork(ctx context.Context, b *bed.Bed, r *report.Record, s Size) error {
	n, spacing := s.of(100, 10), s.of(550, 60) // milliseconds
	p, running, err := waitingProcess(ctx, b, n, spacing)
	if err != nil {
		return err
	}
	polls := b.Polls()
	taken, err := takenBy(ctx, b, func() error {
		watched := make(chan error, 1)
		_, err := b.RunWith(ctx, p, func() { go func() { watched <- b.Watch(ctx, p.ID) }() })
		if err != nil {
			return err
		}
		return <-watched
	})
	if err != nil {
		return fmt.Errorf("waiting: %w", err)
	}
	r.Figure("waiting: heartbeats a second", "").On("calls", n).Add(float64(taken[actions.Heartbeats]) / running).
		AtMost(maxForHeartbeat).InWords(fmt.Sprint(maxForHeartbeat, " a second a running Call"))
	r.Figure("waiting: queries of a watcher", "").On("calls", n).Add(float64(taken[actions.Queries])).
		AtMost(maxForWatcher).InWords(fmt.Sprint(maxForWatcher, " an hour a watcher"))
	r.Figure("waiting: polls, which are not billed", "").On("calls", n).Add(float64(b.Polls() - polls))
	return nil
}

// waitingProcess has an instance for each Call, which takes spacing longer than the one before; running is for how many
// seconds they run together.
func waitingProcess(ctx context.Context, b *bed.Bed, n, spacing int) (p bed.Process, running float64, err error) {
	p = bed.Process{ID: "waiting", Tools: map[string]any{"pause": bed.GoTool("pause")}}
	for i := range n {
		m, err := b.StateMessage(ctx, fmt.Sprintf("i%05d", i+1), map[string]any{"n": (i + 1) * spacing})
		if err != nil {
			return p, 0, err
		}
		p.Messages, running = append(p.Messages, m), running+float64((i+1)*spacing)/1000
	}
	p.Messages = append(p.Messages, map[string]any{"type": "plan", "stage": "complete", "plan": []any{
		map[string]any{"_tool": "pause", "n": "†state.n", "_outputPath": "done"},
	}})
	return p, running, nil
}
