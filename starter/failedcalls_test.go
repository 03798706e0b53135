package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"processidea/client"
	"processidea/starter/internal/exit"
)

// A process is marked wherever it is listed or shown, if Calls failed in instances that settled.
func TestAProcessWithFailedCallsIsMarkedOnEveryFace(t *testing.T) {
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusUnprocessableEntity)
		}
		fmt.Fprint(w, "{}")
	}))
	t.Cleanup(shop.Close)
	idea := `{"config": {"batch": %d}, "schema": {"tools": {"send": {"type": "object",
		"properties": {"to": {"type": "string"}}, "required": ["to"],
		"_activity": {"http": {"url": "` + shop.URL + `/{to}"}}}}},
		"context": [{"type": "state", "_instance": "①", "to": "bad"},
		{"type": "state", "_instance": "②", "to": "good"}, {"type": "plan", "stage": "optimal", "plan": [{"_tool": "send", "to": "†state.to"}]}]}`
	d := newDesk(t, map[string]string{"whole.json": fmt.Sprintf(idea, 2), "split.json": fmt.Sprintf(idea, 1),
		"replies.jsonl": nothingMore}).set("PROCESSIDEA_HTTP_ALLOW=" + shop.Listener.Addr().String())
	n, _ := d.dev()
	for _, id := range []string{"whole", "split"} {
		marks := func(face, text, mark string) {
			t.Helper()
			if !strings.Contains(text, mark) {
				t.Errorf("%s of %s does not say %q:\n%s", face, id, mark, text)
			}
		}
		run := d.do("run", id+".json", "--id", id, "--replies", "replies.jsonl").is(exit.Done)
		marks("run", run.out, "settled, 1 Call failed")
		marks("result", d.do("result", id).is(exit.Done).out, "settled, 1 Call failed")
		if r := d.do("result", id, "--json").is(exit.Done).result(); r.Instances["①"].FailedCallCount != 1 {
			t.Errorf("%+v", r.Instances)
		}
		d.eventually("the list says that it is completed", func() bool {
			return strings.Contains(d.do("list").is(exit.Done).out, id+"    completed")
		})
		marks("list", d.do("list").is(exit.Done).out, id+"    completed, 1 Call failed")
		marks("the desk's list", d.page(n.GatewayURL, "/desk/processes"), ">completed, 1 step failed</td>")
		marks("the desk's page", d.page(n.GatewayURL, "/desk/processes/"+id), "finished, 1 step failed")
		var listed struct{ Processes []client.ProcessSummary }
		if err := json.Unmarshal([]byte(d.page(n.GatewayURL, "/api/processes")), &listed); err != nil {
			t.Fatal(err)
		}
		for _, p := range listed.Processes {
			if p.FailedCallCount != 1 {
				t.Errorf("the API lists %+v", p)
			}
		}
	}
}

// page gets a page of a gateway, of the desk or of the API, with the token of its address.
func (d *desk) page(gateway, path string) string {
	d.Helper()
	u, err := url.Parse(gateway)
	if err != nil {
		d.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	browser, text := http.Client{Jar: jar}, []byte(nil)
	for _, at := range []string{gateway, "http://" + u.Host + path} {
		r, err := http.NewRequestWithContext(d.Context(), http.MethodGet, at, nil)
		if err != nil {
			d.Fatal(err)
		}
		if strings.HasPrefix(path, "/api/") {
			r.Header.Set("Authorization", "Bearer "+u.Query().Get("token"))
		}
		answer, err := browser.Do(r)
		if err != nil {
			d.Fatal(err)
		}
		text, err = io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			d.Fatal(err)
		}
	}
	return string(text)
}
