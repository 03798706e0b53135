package httptool

import (
	"net/http"
	"strings"
	"testing"
)

func TestGetReadsAURLAsItIs(t *testing.T) {
	t.Parallel()
	status := 200
	s, asked := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=latin1")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("caf\xe9"))
	})
	c := client(t, map[string]string{"TOKEN": "t0p-secret"}, s)
	for _, status = range []int{200, 404, 410} {
		got, contentType, body, err := c.Get(bg, s.URL+"/{a}?x=$env:TOKEN&y=a b#top")
		if err != nil || got != status || contentType != "text/plain; charset=latin1" || body != "café" {
			t.Errorf("%d: %d %q %q %v", status, got, contentType, body, err)
		}
		if all := asked.take(); all[0].URI != "/%7Ba%7D?x=$env:TOKEN&y=a%20b" || all[0].Method != "GET" ||
			all[0].Header.Get("Idempotency-Key") != "" {
			t.Errorf("%+v", all)
		}
	}
	for _, status = range []int{408, 429, 500} {
		_, _, _, err := c.Get(bg, s.URL)
		if e := asError(t, err); !e.IsRetryable || e.Status != status {
			t.Errorf("%d: %v", status, e)
		}
	}
}

func TestGetGoesWhereTheListAllowsAndNowhereElse(t *testing.T) {
	t.Parallel()
	s, asked := serve(t, write("image/png", "\xff\xfe"))
	c := client(t, nil, s)
	for address, want := range map[string]string{
		"file:///etc/passwd":   "not an http or https URL",
		"http://":              "not an http or https URL",
		"http://u:p@localhost": "not an http or https URL",
		"http://a.org:0x50/":   "not a URL",
		"http://localhost:1/":  "is not in PROCESSIDEA_HTTP_ALLOW",
		s.URL:                  "not text",
	} {
		_, _, _, err := c.Get(bg, address)
		if e := asError(t, err); e.IsRetryable || !strings.Contains(e.Error(), want) ||
			!strings.HasPrefix(e.Error(), "httptool: GET "+address) {
			t.Errorf("%s: %v", address, e)
		}
	}
	if len(asked.take()) != 1 {
		t.Error("a refused URL was asked")
	}
}

func TestACertificateNobodyKnowsIsNotTrusted(t *testing.T) {
	t.Parallel()
	s, asked := serveTLS(t)
	allow := strings.TrimPrefix(s.URL, "https://")
	c := New(Options{AllowList: allow})
	defer c.Close()
	_, _, _, err := c.Get(bg, s.URL)
	if e := asError(t, err); !strings.Contains(e.Error(), "certificate") || len(asked.take()) != 0 {
		t.Errorf("%v", e)
	}
	trusting := New(Options{AllowList: allow})
	defer trusting.Close()
	trusting.transport.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig
	if _, err := trusting.Do(bg, Spec{URL: s.URL}, nil, nil, "key"); err != nil {
		t.Fatal(err)
	}
	if all := asked.take(); all[0].Body != "HTTP/2.0" || all[0].Header.Get("Idempotency-Key") != "key" {
		t.Errorf("%+v", all)
	}
}
