package service_test

import (
	"cmp"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"

	"processidea/client"
	"processidea/internal/devserver/devtest"
	"processidea/internal/flags"
	"processidea/internal/longrun"
	"processidea/model/loop"
	"processidea/worker/service"
	"processidea/worker/workertest"
)

// Every number and duration of a worker's flags is run at its edges: Calls and a Request come to the end that is meant,
// or pause with a reason, and the worker ends when it is told to. The table is made of the flags, so that a new one is
// in it by itself. The gate takes an eighth of its rows.
func TestAWorkerRunsWithEveryFlagAtItsEdges(t *testing.T) {
	t.Parallel()
	rows := map[string]string{}
	service.DeclaredFlags().VisitAll(func(f *pflag.Flag) {
		if v, bounded := f.Value.(*flags.Value); bounded {
			least, most := v.Bounds()
			for _, value := range []string{least, most, "0", "-1"} {
				if f.Value.Set(value) == nil { // the others are refused: that is another test
					rows["--"+f.Name+"="+value] = value
				}
			}
		}
	})
	if len(rows) < 35 {
		t.Errorf("only %d rows", len(rows))
	}
	means := map[string]loop.Status{"--max-result-bytes=1": loop.StatusFailed}
	for flag := range longrun.SampleRows(t, 8, rows) {
		t.Run(flag, func(t *testing.T) {
			r := newRated(t) // of its own: a server keeps the rate of its workers
			worker := workertest.Start(t, r.env, flag)
			r.ends(r.start("request", `{"context": [{"type": "text", "text": "Go."}]}`), loop.StatusCompleted)
			r.ends(r.start("calls", `{"schema": {"tools": {"letter": {"type": "object", "properties": {},
				"_activity": {"http": {"url": "SHOP"}}}, "note": {"type": "object",
				"properties": {"text": {"type": "string"}}}}}, "context": [{"type": "plan", "stage": "complete", "plan": [
				{"_tool": "letter"}, {"_tool": "note", "text": "x"}]}]}`), cmp.Or(means[flag], loop.StatusCompleted))
			worker.Signal(syscall.SIGTERM)
			if code, log := worker.Wait(); code != 0 || strings.Contains(log, `"stack"`) {
				t.Errorf("it ended with %d:\n%s", code, log)
			}
		})
	}
}

// ends waits until a process has ended as it should, or says why it pauses.
func (r *rated) ends(p *client.Process, want loop.Status) {
	r.t.Helper()
	devtest.Eventually(r.t, "process "+p.ID()+" ends", func() bool {
		s, err := p.Status(r.t.Context())
		return err == nil && (s.Status == want ||
			s.Status == loop.StatusPaused && s.Error != nil && s.Error.Message != "")
	})
}
