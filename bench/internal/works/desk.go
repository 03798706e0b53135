package works

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/usage"
	"processidea/client"
)

const (
	maxPageMS      = 300                    // ms until the desk answers for a page
	browseInterval = 500 * time.Millisecond // how often people look while the process runs
	undecidedCalls = 10                     // Calls that wait until everything else is done
	processPage    = "/desk/processes/instances"
)

// deskPages are the pages to look at, in this order.
var deskPages = []struct{ name, path string }{
	{"inbox", "/"},
	{"inbox, filtered", "/?process=instances&text=1&size=1000"},
	{"processes", "/desk/processes"},
	{"process", processPage},
	{"process, its Plan", processPage + "/plan.svg"},
	{"process, instances 5,000", processPage + "?page=50"},
	{"time, latest Idea", processPage + "/idea"},
	{"time, one instance", processPage + "/idea?instance=i00007"},
	{"time, first Idea", processPage + "/idea?at=1"},
	{"record", processPage + "/verify"},
	{"record, decisions 500", processPage + "/verify?page=5"},
}

// deskWork looks at the desk while a process of many instances runs, while its last Calls wait for people, after a
// restart of worker and gateway, and after the end. A person is asked about every tenth instance.
func deskWork(full int) func(context.Context, Round) error {
	return func(ctx context.Context, r Round) error { return r.measureDesk(ctx, r.size(full, 2*undecidedCalls)) }
}

func (r Round) measureDesk(ctx context.Context, n int) error {
	processDone := make(chan error, 1)
	go func() { processDone <- r.runReviewed(ctx, n) }()
	if err := r.browseUntil(ctx, n, processDone); err != nil {
		return err
	}
	if err := r.RestartWorker(); err != nil {
		return err
	}
	if err := r.timePages(ctx, "after a restart"); err != nil {
		return err
	}
	if err := r.approveUntil(ctx, n, processDone); err != nil {
		return err
	}
	if err := r.timePages(ctx, "after the end"); err != nil {
		return err
	}
	return r.export(ctx)
}

// runReviewed runs instances with one Call each by a Plan. People are asked about every tenth and about the last ones.
func (r Round) runReviewed(ctx context.Context, n int) error {
	_, err := r.runInstances(ctx, n, bed.ToolJSON("instant", fmt.Sprintf(`"_activity": "instant", "_approval": {"when": {
		"anyOf": [{"properties": {"n": {"multipleOf": 10}}}, {"properties": {"n": {"exclusiveMinimum": %d}}}]}}`,
		n-undecidedCalls)))
	return err
}

// browseUntil looks at one page after the other, and decides on what waits, until only the last Calls are left.
func (r Round) browseUntil(ctx context.Context, n int, processDone <-chan error) error {
	d, err := r.NewDesk()
	if err != nil {
		return err
	}
	p := r.Client().Process("instances")
	for {
		for _, page := range deskPages {
			select {
			case err := <-processDone:
				return errors.Join(errors.New("it ended before its last Calls were decided on"), err)
			case <-time.After(browseInterval):
			}
			if l, err := d.Get(ctx, page.path); err == nil { // an error may mean that there is no Idea yet
				r.addPageTiming(page.name+", while it runs", l)
			}
		}
		if err := approve(ctx, p, n-undecidedCalls+1); err != nil {
			return err
		}
		status, err := p.Status(ctx)
		if err == nil && status.Awaiting == undecidedCalls && status.Calls.Done == n-undecidedCalls {
			return nil
		}
	}
}

// approveUntil approves all Calls that wait, until the process has ended.
func (r Round) approveUntil(ctx context.Context, n int, ended <-chan error) error {
	p := r.Client().Process("instances")
	for {
		if err := approve(ctx, p, n+1); err != nil {
			return err
		}
		select {
		case err := <-ended:
			return err
		case <-time.After(browseInterval): // perhaps it did not answer
		}
	}
}

// timePages requests each page twice from a new gateway: for the first time, and again.
func (r Round) timePages(ctx context.Context, phase string) error {
	for _, page := range deskPages {
		d, err := r.NewDesk()
		if err != nil {
			return err
		}
		for _, suffix := range []string{", first look ", ", again "} {
			l, err := d.Get(ctx, page.path)
			if err != nil {
				return err
			}
			r.addPageTiming(page.name+suffix+phase, l)
		}
	}
	return nil
}

// addPageTiming records the time until the first answer and, if the page was still in preparation then, the time until
// the page came.
func (r Round) addPageTiming(name string, timing bed.PageTiming) {
	r.Figure(name, "ms").Add(milliseconds(timing.FirstAnswer)).WithLimit(maxPageMS)
	if timing.UntilShown > timing.FirstAnswer {
		r.Figure(name+", until it is there", "ms").Add(milliseconds(timing.UntilShown))
	}
}

// approve approves the waiting Calls whose number is below a limit.
func approve(ctx context.Context, p *client.Process, maxNumber int) error {
	waiting, err := p.Approvals(ctx)
	if err != nil {
		return nil //nolint:nilerr // it has not begun, or does not answer now
	}
	var all []client.Decision
	for _, a := range waiting {
		number, _ := a.Params["n"].(json.Number)
		if n, _ := number.Int64(); int(n) < maxNumber {
			all = append(all, client.Decision{Kind: client.Approve, Call: a.CallID, Digest: a.Digest, By: "bench"})
		}
	}
	if len(all) == 0 {
		return nil
	}
	_, err = p.DecideMany(ctx, all)
	return err
}

// export requests the report of the process as one file.
func (r Round) export(ctx context.Context) error {
	d, err := r.NewDesk()
	if err != nil {
		return err
	}
	before := usage.ResidentMB()
	usage.ResetPeakMemory()
	begin := time.Now()
	l, err := d.Get(ctx, processPage+"/export.html")
	r.Figure("report: time", "s").Add(time.Since(begin).Seconds())
	r.Figure("report: size", "MB").Add(float64(l.Size) / (1 << 20))
	r.Figure("report: memory while it is made", "MB").Add(usage.PeakResidentMB() - before)
	return err
}
