package httptool

import (
	"net/http"
	"testing"

	"processidea/tools"
	"processidea/tools/builtin"
)

func TestTheClientServesTheFetchTool(t *testing.T) {
	t.Parallel()
	status := 404
	s, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte("no such page"))
	})
	r := tools.NewRegistry()
	builtin.Register(r, client(t, nil, s))
	fetch, _ := r.Lookup("fetch")
	got, err := fetch.Call(bg, map[string]any{"url": s.URL})
	if err != nil || encoded(t,
		got) != `{"body":"no such page","contentType":"text/plain; charset=utf-8","status":404}` {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := fetch.Call(bg, map[string]any{"url": "http://169.254.169.254/"}); !tools.IsFinal(err) ||
		asError(t, err).IsRetryable {
		t.Errorf("a host that is not allowed: %v", err)
	}
	status = 503
	if _, err := fetch.Call(bg, map[string]any{"url": s.URL}); tools.IsFinal(err) || asError(t, err).Status != 503 {
		t.Errorf("a server that is down: %v", err)
	}
}

func TestScopesAreSentWithoutParametersToo(t *testing.T) {
	t.Parallel()
	s, asked := serve(t, nil)
	if _, err := client(t, nil, s).Do(bg, Spec{URL: s.URL}, nil, map[string]any{"state": map[string]any{"a": 1}},
		"k"); err != nil {
		t.Fatal(err)
	}
	if got := asked.take()[0].Body; got != `{"_scopes":{"state":{"a":1}}}` {
		t.Error(got)
	}
}
