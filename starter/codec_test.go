package main

import (
	"net/http"
	"strings"
	"testing"

	"processidea/activities/blobs"
)

func TestOnlyPagesFromThisMachineMayFetchPayloads(t *testing.T) {
	store, err := blobs.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	endpoint, stop, err := serveCodec(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for origin, want := range map[string]int{
		"http://127.0.0.1:8233": http.StatusOK, "http://localhost:8233": http.StatusOK,
		"https://example.org": http.StatusForbidden, "http://127.0.0.1.example.org": http.StatusForbidden, "": http.StatusForbidden,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint+"/decode", strings.NewReader(`{"payloads": []}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", origin)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%q: %d, want %d", origin, resp.StatusCode, want)
		}
	}
}
