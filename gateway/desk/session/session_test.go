package session_test

import (
	"net/http"
	"net/http/httptest"
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
	s := sessions(t, "one")
	c := begun(t, s, "http://localhost/", session.Ticket{Name: "ann", Until: time.Now().Add(-time.Second)})
	if _, ok := s.Read(request("http://localhost/", c)); ok {
		t.Error("it is over, and counts")
	}
}

func TestWhatIsSealedForOneUseIsOpenedForNoOther(t *testing.T) {
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

func TestByHTTPSACookieIsForHTTPSAlone(t *testing.T) {
	s := sessions(t, "one")
	s.Secure = true
	if c := begun(t, s, "http://gateway.example.com/", session.Ticket{Name: "ann"}); !c.Secure {
		t.Errorf("%+v", c)
	}
}
