package devserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"processidea/devserver"
)

func TestTheUIServesItsPageAndTheNamespace(t *testing.T) {
	s := start(t, devserver.Options{
		Dir: t.TempDir(), Namespace: "mine", CodecEndpoint: "http://127.0.0.1:1/codec",
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
	if !strings.Contains(strings.Join(names, " "), "mine") {
		t.Errorf("the UI lists the namespaces %q, want mine among them", names)
	}
	var settings struct {
		DefaultNamespace string
		DisableNewsFetch bool
		Codec            struct{ Endpoint string }
	}
	decode(t, mustGet(t, s.UIURL()+"/api/v1/settings"), &settings)
	if settings.DefaultNamespace != "mine" || !settings.DisableNewsFetch || settings.Codec.Endpoint != "http://127.0.0.1:1/codec" {
		t.Errorf("the UI's settings are %+v", settings)
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
