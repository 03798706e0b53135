package httptool

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seen is what a server was asked.
type seen struct {
	Method, URI, Body string
	Header            http.Header
}

// record holds what a server was asked since it was last emptied.
type record struct {
	sync.Mutex
	all []seen
}

func (r *record) add(s seen) {
	r.Lock()
	defer r.Unlock()
	r.all = append(r.all, s)
}

// take returns what was asked and empties the record.
func (r *record) take() []seen {
	r.Lock()
	defer r.Unlock()
	all := r.all
	r.all = nil
	return all
}

// serve answers every request with the reply and records what was asked.
func serve(t *testing.T, reply http.HandlerFunc) (*httptest.Server, *record) {
	t.Helper()
	asked := &record{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked.add(seen{r.Method, r.RequestURI, string(body), r.Header.Clone()})
		if reply != nil {
			reply(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s, asked
}

// serveTLS speaks HTTP/2 too and records, as the body, the protocol that was spoken.
func serveTLS(t *testing.T) (*httptest.Server, *record) {
	t.Helper()
	asked := &record{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.add(seen{r.Method, r.RequestURI, r.Proto, r.Header.Clone()})
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // a refused handshake is what is tested
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, asked
}

// client may reach the servers, and knows the environment given as pairs.
func client(t *testing.T, env map[string]string, servers ...*httptest.Server) *Client {
	t.Helper()
	var allow []string
	for _, s := range servers {
		allow = append(allow, strings.TrimPrefix(s.URL, "http://"))
	}
	names := append(slices.Collect(maps.Keys(env)), "GONE", "NOT_THERE")
	c := New(Options{AllowList: strings.Join(allow, ","), AllowedSecrets: secretsFor(names),
		LookupEnv: func(name string) (string, bool) {
			v, ok := env[name]
			return v, ok
		}})
	t.Cleanup(c.Close)
	return c
}

// secretsFor lists those names that a list may hold, for any host.
func secretsFor(names []string) (list string) {
	for _, name := range names {
		if _, err := CheckSecretEntries(name + "@*"); err == nil {
			list += name + "@*,"
		}
	}
	return list
}

func parse(t *testing.T, text string) Spec {
	t.Helper()
	s, err := ParseSpec(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := decodeJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v.(map[string]any)
}

func asError(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *Error", err)
	}
	return e
}

func write(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		_, _ = io.WriteString(w, body)
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var bg = context.Background()
