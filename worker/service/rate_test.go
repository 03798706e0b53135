package service_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
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

// Calls that the server holds back, since the workers begin only so many a second, are said where people look. No
// worker knows of them.
func TestWhatASlowWorkerLeavesWaitingIsSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("it has a server")
	}
	t.Parallel()
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	t.Cleanup(shop.Close)
	server, stop, err := devtest.Shared(connect.SearchAttributes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	store := "file://" + t.TempDir()
	workertest.Start(t, []string{"TEMPORAL_ADDRESS=" + server.Address(), "TEMPORAL_NAMESPACE=" + server.Namespace(),
		"PROCESSIDEA_STORE=" + store, "PROCESSIDEA_HTTP_ALLOW=" + shop.Listener.Addr().String()},
		"--calls-per-second", "0.01")
	c, err := client.Dial(t.Context(), client.Options{Store: store,
		Temporal: sdk.Options{HostPort: server.Address(), Namespace: server.Namespace()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	idea, problems := ideafile.ParseIdea([]byte(`{"schema": {"tools": {"letter": {"type": "object", "properties": {},
		"_activity": {"http": {"url": "` + shop.URL + `"}}}}},
		"context": [{"type": "plan", "stage": "complete", "plan": [{"_tool": "letter"}, {"_tool": "letter"},
			{"_tool": "letter"}, {"_tool": "letter"}]}]}`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p, err := c.Start(t.Context(), client.StartOptions{ID: "slow", Idea: jsonval.AsObject(idea.Source)})
	if err != nil {
		t.Fatal(err)
	}
	devtest.Eventually(t, "the process is held up by the rate", func() bool {
		held, err := p.HeldUp(t.Context())
		return err == nil && len(held) == 1 && held[0].Cause == turn.CodeRateLimited
	})
	list, err := c.List(t.Context(), client.ListOptions{})
	if err != nil || len(list) != 1 || len(list[0].HeldUp) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}
