package devserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"processidea/internal/devserver"
)

func TestTheUIServesItsPageAndTheNamespace(t *testing.T) {
	s := start(t, devserver.Options{
		Dir: t.TempDir(), CodecEndpoint: "http://127.0.0.1:1/codec",
	})
	if page := mustGet(t, s.UIURL()); !strings.Contains(page, "<!doctype html>") {
		t.Errorf("the page is no HTML:\n%s", page)
	}
	var list struct {
		Namespaces []struct {
			NamespaceInfo struct{ Name string }
		}
	}
	decode(t, mustGet(t, s.UIURL()+"/api/v1/namespaces"), &list)
	var names []string
	for _, ns := range list.Namespaces {
		names = append(names, ns.NamespaceInfo.Name)
	}
	if !strings.Contains(strings.Join(names, " "), "default") {
		t.Errorf("the UI lists the namespaces %q, want default among them", names)
	}
	var settings struct {
		DefaultNamespace string
		DisableNewsFetch bool
		Codec            struct{ Endpoint string }
	}
	decode(t, mustGet(t, s.UIURL()+"/api/v1/settings"), &settings)
	if settings.DefaultNamespace != "default" || !settings.DisableNewsFetch ||
		settings.Codec.Endpoint != "http://127.0.0.1:1/codec" {
		t.Errorf("the UI's settings are %+v", settings)
	}
}

func TestTheUIAnswersNoForeignPage(t *testing.T) {
	s := start(t, devserver.Options{Dir: t.TempDir()})
	for _, c := range []struct {
		name, method, path string
		headers            []string
		refused            bool
	}{
		{"the UI's own page", "GET", "/api/v1/namespaces", nil, false},
		{"DNS rebinding", "GET", "/api/v1/namespaces", []string{"Host", "evil.example:8233"}, true},
		{"a name that looks like this machine's", "GET", "/api/v1/namespaces",
			[]string{"Host", "127.0.0.1.evil.example"}, true},
		{"a form of a foreign page", "POST", "/api/v1/namespaces/default/workflows/x/terminate",
			[]string{"Origin", "https://evil.example"}, true},
		{"a fetch of a foreign page", "POST", "/api/v1/namespaces/default/workflows/x/terminate",
			[]string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, true},
	} {
		req, err := http.NewRequestWithContext(within(t), c.method, s.UIURL()+c.path, strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(c.headers); n += 2 {
			if req.Header.Set(c.headers[n], c.headers[n+1]); c.headers[n] == "Host" {
				req.Host = c.headers[n+1]
			}
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if (resp.StatusCode >= 400) != c.refused || resp.StatusCode == 404 ||
			resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %s %v %s", c.name, resp.Status, resp.Header, body)
		}
	}
}

func TestTwoServersWithUIRunAtOnce(t *testing.T) {
	first := start(t, devserver.Options{Dir: t.TempDir()})
	second := start(t, devserver.Options{Dir: t.TempDir()})
	first.Stop()
	mustGet(t, second.UIURL())
	if _, _, err := get(within(t), first.UIURL()); err == nil {
		t.Error("the UI still answers after Stop")
	}
}

func get(ctx context.Context, url string) (status int, body string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(read), err
}

func mustGet(t *testing.T, url string) string {
	t.Helper()
	status, body, err := get(within(t), url)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d", status)
	}
	if err != nil {
		t.Fatalf("get %s: %v", url, err)
	}
	return body
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
}
