package session_test

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"processidea/gateway/desk/session"
)

func sessions(t *testing.T, secret string) *session.Sessions {
	t.Helper()
	s, err := session.New([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func request(target string, cookies ...*http.Cookie) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return r
}

func begun(t *testing.T, s *session.Sessions, target string, ticket session.Ticket) *http.Cookie {
	t.Helper()
	w := httptest.NewRecorder()
	if err := s.Begin(w, request(target), ticket); err != nil {
		t.Fatal(err)
	}
	return w.Result().Cookies()[0]
}

func TestASessionIsReadByWhoeverHasTheSecretAlone(t *testing.T) {
	t.Parallel()
	s := sessions(t, "one")
	const here = "http://127.0.0.1:8300/"
	c := begun(t, s, here, session.Ticket{Name: "ann", Groups: []string{"finance"}})
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Secure {
		t.Errorf("%+v", c)
	}
	if got, ok := sessions(t, "one").Read(request(here, c)); !ok || got.Name != "ann" || got.Groups[0] != "finance" {
		t.Errorf("%+v %v", got, ok)
	}
	if got, ok := sessions(t, "two").Read(request(here, c)); ok || got.Name != "" {
		t.Errorf("another secret opens it: %+v", got)
	}
	if _, ok := s.Read(request("http://127.0.0.1:8301/", c)); ok {
		t.Error("it counts at another gateway of the machine")
	}
	broken := *c
	other := map[bool]string{true: "B", false: "A"}[c.Value[0] == 'A']
	broken.Value = other + c.Value[1:]
	if _, ok := s.Read(request(here, &broken)); ok {
		t.Error("a changed one is taken")
	}
	w := httptest.NewRecorder()
	s.End(w, request(here))
	if gone := w.Result().Cookies()[0]; gone.Name != c.Name || gone.MaxAge >= 0 {
		t.Errorf("%+v", gone)
	}
}

func TestACopyOfTheCookieCountsNoMoreOnceThePersonHasLoggedOut(t *testing.T) {
	t.Parallel()
	s := sessions(t, "one")
	const here = "http://localhost/"
	c, other := begun(t, s, here, session.Ticket{Name: "ann"}), begun(t, s, here, session.Ticket{Name: "ann"})
	copied := *c
	s.End(httptest.NewRecorder(), request(here))
	if _, ok := s.Read(request(here, &copied)); !ok {
		t.Fatal("nobody has logged out")
	}
	s.End(httptest.NewRecorder(), request(here, c))
	if got, ok := s.Read(request(here, &copied)); ok {
		t.Errorf("a copy counts: %+v", got)
	}
	if _, ok := s.Read(request(here, other)); !ok {
		t.Error("the session of another browser has ended too")
	}
}

func TestASessionEndsByItself(t *testing.T) {
	t.Parallel()
	s := sessions(t, "one")
	c := begun(t, s, "http://localhost/", session.Ticket{Name: "ann", ExpiresAt: time.Now().Add(-time.Second)})
	if _, ok := s.Read(request("http://localhost/", c)); ok {
		t.Error("it is over, and counts")
	}
}

func TestWhatIsSealedForOneUseIsOpenedForNoOther(t *testing.T) {
	t.Parallel()
	s := sessions(t, "one")
	text, err := s.Seal("outcome", []int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	if s.Unseal("ticket", text, &got) || got != nil {
		t.Error("it opens for another use")
	}
	if !s.Unseal("outcome", text, &got) || len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// Browsers take a cookie of this prefix from the host itself alone, by https, for all its pages.
func TestByHTTPSACookieIsForHTTPSAndThisHostAlone(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(*session.Sessions, *http.Request){
		"the address is https": func(s *session.Sessions, _ *http.Request) { s.IsHTTPSOnly = true },
		"the request is":       func(_ *session.Sessions, r *http.Request) { r.TLS = &tls.ConnectionState{} },
		"a proxy says so": func(_ *session.Sessions, r *http.Request) {
			r.Header.Set("X-Forwarded-Proto", "https")
		},
	} {
		s, w, r := sessions(t, "one"), httptest.NewRecorder(), request("http://gateway.example.com/")
		arrange(s, r)
		err := errors.Join(s.Begin(w, r, session.Ticket{Name: "ann"}), s.SetValue(w, r, "login", time.Minute, "v"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range w.Result().Cookies() {
			if !strings.HasPrefix(c.Name, "__Host-") || !c.Secure || c.Path != "/" || c.Domain != "" || !c.HttpOnly {
				t.Errorf("%s: %+v", name, c)
			}
			planted := *c
			planted.Name = strings.TrimPrefix(c.Name, "__Host-")
			other := request("http://gateway.example.com/", &planted)
			arrange(s, other)
			if _, ok := s.Read(other); ok {
				t.Errorf("%s: one that any host may set counts", name)
			}
			r.AddCookie(c)
		}
		var kept string
		if _, ok := s.Read(r); !ok || !s.TakeValue(w, r, "login", &kept) || kept != "v" {
			t.Errorf("%s: nobody is logged in, or %q is kept", name, kept)
		}
	}
}
