package service_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	sdk "go.temporal.io/sdk/client"

	"processidea/client"
	"processidea/connect"
	"processidea/internal/devserver/devtest"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/worker/workertest"
)

// waiting runs a worker beside a server of Tools, starts a process of this Plan, whose Tool letter asks that server,
// and waits until the cause holds it up.
func waiting(t *testing.T, cause, plan string, shop http.HandlerFunc, flags ...string) (*client.Client,
	*workertest.WorkerProcess) {
	if testing.Short() {
		t.Skip("it has a server")
	}
	t.Parallel()
	tools := httptest.NewServer(shop)
	t.Cleanup(tools.Close)
	server, stop, err := devtest.StartShared(connect.SearchAttributeTypes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	store := "file://" + t.TempDir()
	worker := workertest.Start(t, []string{"TEMPORAL_ADDRESS=" + server.Address(),
		"TEMPORAL_NAMESPACE=" + server.Namespace(), "PROCESSIDEA_STORE=" + store,
		"PROCESSIDEA_HTTP_ALLOW=" + tools.Listener.Addr().String()}, flags...)
	c, err := client.Dial(t.Context(), client.Options{StorePlace: store,
		Temporal: sdk.Options{HostPort: server.Address(), Namespace: server.Namespace()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	idea, problems := ideafile.ParseIdea([]byte(`{"schema": {"tools": {"letter": {"type": "object", "properties": {},
		"_activity": {"http": {"url": "` + tools.URL + `"}}}, "sign": {"type": "object", "_approval": true,
		"_activity": "note", "properties": {"text": {"const": "x"}}, "required": ["text"]}}},
		"context": [{"type": "plan", "stage": "complete", "plan": ` + plan + `}]}`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p, err := c.Start(t.Context(), client.StartOptions{ID: "slow", Idea: jsonval.AsObject(idea.Source)})
	if err != nil {
		t.Fatal(err)
	}
	devtest.Eventually(t, "the process is held up by "+cause, func() bool {
		held, err := p.HoldUps(t.Context())
		return err == nil && len(held) == 1 && held[0].CauseCode == cause
	})
	return c, worker
}

// Calls that the server holds back, since the workers begin only so many a second, are said where people look, also
// where a person is waited for beside them. No worker knows of them.
func TestWhatASlowWorkerLeavesWaitingIsSaid(t *testing.T) {
	c, _ := waiting(t, turn.CodeRateLimited, `[{"_tool": "sign", "text": "x"}, {"_tool": "letter"}, {"_tool": "letter"},
		{"_tool": "letter"}, {"_tool": "letter"}]`,
		func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }, "--calls-per-second", "0.01")
	devtest.Eventually(t, "the list says both", func() bool {
		list, err := c.List(t.Context(), client.ListOptions{})
		return err == nil && len(list) == 1 && len(list[0].HoldUps) == 1 && list[0].AwaitingCount == 1
	})
}

func TestTheLogSaysWhichCallWaitsForItsServer(t *testing.T) {
	_, worker := waiting(t, turn.CodeToolBusy, `[{"_tool": "letter"}]`, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7200")
		http.Error(w, "come back tomorrow", http.StatusTooManyRequests)
	})
	worker.Signal(syscall.SIGTERM)
	_, log := worker.Wait()
	for line := range strings.Lines(log) {
		if strings.Contains(line, "the Call waits because its server asked it to") && strings.Contains(line, "WARN") &&
			strings.Contains(line, "come back tomorrow") {
			return
		}
	}
	t.Errorf("the log does not say so:\n%s", log)
}
