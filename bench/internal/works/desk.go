package works

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/report"
	"processidea/bench/internal/usage"
	"processidea/client"
)

const (
	maxPage = 300 // ms that the desk may take for a page
	patient = 10  // Calls that are left to wait until everything else is done
	process = "/desk/processes/instances"
)

// deskPages are the pages that are looked at, in their order.
var deskPages = []struct{ name, path string }{
	{"inbox", "/"},
	{"inbox, filtered", "/?process=instances&text=1&size=1000"},
	{"processes", "/desk/processes"},
	{"process", process},
	{"process, its Plan", process + "/plan.svg"},
	{"process, instances 5,000", process + "?page=50"},
	{"time, latest Idea", process + "/idea"},
	{"time, one instance", process + "/idea?instance=i00007"},
	{"time, first Idea", process + "/idea?at=1"},
	{"record", process + "/verify"},
	{"record, decisions 500", process + "/verify?page=5"},
}

// deskWork looks at the desk while a process of ten thousand instances runs, while its last Calls wait for people, after a worker and a
// gateway have started again, and when it has ended. Of every tenth instance a person is asked.
func deskWork(ctx context.Context, b *bed.Bed, r *report.Record, s Size) error {
	n := s.of(10_000, 2*patient)
	ended := make(chan error, 1)
	go func() { ended <- runReviewed(ctx, b, n) }()
	if err := lookWhile(ctx, b, r, n, ended); err != nil {
		return err
	}
	if err := b.RestartWorker(); err != nil {
		return err
	}
	if err := lookTwice(ctx, b, r, "after a restart"); err != nil {
		return err
	}
	p := b.Client().Process("instances")
	if err := approve(ctx, p, n+1); err != nil {
		return err
	}
	if err := <-ended; err != nil {
		return err
	}
	if err := lookTwice(ctx, b, r, "after the end"); err != nil {
		return err
	}
	return export(ctx, b, r)
}

// runReviewed runs instances with one Call each by a Plan. People are asked of every tenth, and of the last ones.
func runReviewed(ctx context.Context, b *bed.Bed, n int) error {
	tool := bed.GoTool("instant")
	tool["_approval"] = map[string]any{"when": map[string]any{"anyOf": []any{
		map[string]any{"properties": map[string]any{"n": map[string]any{"multipleOf": 10}}},
		map[string]any{"properties": map[string]any{"n": map[string]any{"exclusiveMinimum": n - patient}}},
	}}}
	_, err := runInstances(ctx, b, n, tool)
	return err
}

// lookWhile looks at one page after the other, and decides on what waits, until nothing but the last Calls is left.
func lookWhile(ctx context.Context, b *bed.Bed, r *report.Record, n int, ended <-chan error) error {
	d, err := b.NewDesk()
	if err != nil {
		return err
	}
	p := b.Client().Process("instances")
	for {
		for _, page := range deskPages {
			select {
			case err := <-ended:
				return fmt.Errorf("it ended before its last Calls were decided on: %w", err)
			default:
			}
			took, _, err := d.Get(ctx, page.path)
			if err != nil {
				continue // it has no Idea yet
			}
			r.Figure(page.name+", while it runs", "ms").Add(ms(took)).AtMost(maxPage)
		}
		if err := approve(ctx, p, n-patient+1); err != nil {
			return err
		}
		status, err := p.Status(ctx)
		if err == nil && status.Awaiting == patient && status.Calls.Done == n-patient {
			return nil
		}
	}
}

// lookTwice asks for each page twice: a gateway that has just started, and one that has shown it before.
func lookTwice(ctx context.Context, b *bed.Bed, r *report.Record, when string) error {
	for _, page := range deskPages {
		d, err := b.NewDesk()
		if err != nil {
			return err
		}
		for _, look := range []string{", first look ", ", again "} {
			took, _, err := d.Get(ctx, page.path)
			if err != nil {
				return err
			}
			r.Figure(page.name+look+when, "ms").Add(ms(took)).AtMost(maxPage)
		}
	}
	return nil
}

// approve decides on the Calls that wait and whose number is below a limit.
func approve(ctx context.Context, p *client.Process, below int) error {
	waiting, err := p.Approvals(ctx)
	if err != nil {
		return nil // it has not begun, or does not answer now
	}
	var all []client.Decision
	for _, a := range waiting {
		number, _ := a.Params["n"].(json.Number)
		if n, _ := number.Int64(); int(n) < below {
			all = append(all, client.Decision{Kind: client.Approve, Call: a.CallID, Digest: a.Digest, By: "bench"})
		}
	}
	if len(all) == 0 {
		return nil
	}
	_, err = p.DecideMany(ctx, all)
	return err
}

// export makes the report of the process as one file.
func export(ctx context.Context, b *bed.Bed, r *report.Record) error {
	d, err := b.NewDesk()
	if err != nil {
		return err
	}
	before := usage.Resident()
	usage.ForgetPeak()
	begin := time.Now()
	_, size, err := d.Get(ctx, process+"/export.html")
	r.Figure("report: time", "s").Add(seconds(time.Since(begin)))
	r.Figure("report: size", "MB").Add(float64(size) / (1 << 20))
	r.Figure("report: memory while it is made", "MB").Add(usage.PeakResident() - before)
	return err
}
