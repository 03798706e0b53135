package server_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/server"
)

// route is a method and an address.
type route struct{ method, path string }

var deskRoute = regexp.MustCompile(`"(GET|POST) (/[^"]*)"`)

// deskRoutes are all of the desk, as its source names them, with these in the place of what an address leaves open.
func deskRoutes(t *testing.T, process, call string) (list []route) {
	t.Helper()
	files, _ := filepath.Glob("../desk/*.go")
	own, _ := filepath.Glob("../desk/ownkey/*.go")
	fill := strings.NewReplacer("{$}", "", "{process}", url.PathEscape(process), "{call}", url.PathEscape(call),
		"{version}", "1", "{name}", "desk.css")
	for _, file := range append(files, own...) {
		for _, m := range deskRoute.FindAllStringSubmatch(string(must(os.ReadFile(file))), -1) {
			list = append(list, route{m[1], fill.Replace(m[2])})
		}
	}
	if len(list) < 25 {
		t.Fatalf("the desk has %d pages", len(list))
	}
	return append(list, route{"GET", access.CallbackPath}, route{"POST", "/desk/nothing"}, route{"POST", "/"})
}

// A page of an origin that the API lists may be of the same site, so that browsers bring the session along: the desk
// hears its own pages alone.
func TestThePagesOfOriginsThatTheAPIListsDoNothingAtTheDesk(t *testing.T) {
	const listed = "http://127.0.0.1:1"
	h := open(t, func(o *server.Options) { o.OriginPolicy = access.OriginPolicy{AllowedOrigins: []string{listed}} })
	b := h.browse()
	for _, r := range deskRoutes(t, "p", "1.1") {
		for _, method := range []string{r.method, http.MethodOptions} {
			q := must(http.NewRequestWithContext(t.Context(), method, b.url+r.path, strings.NewReader("")))
			q.Header.Set("Origin", listed)
			q.Header.Set("Sec-Fetch-Site", "same-site")
			q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			p := b.sendOnce(q)
			if p.status != http.StatusForbidden || p.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s answers %d %v", method, r.path, p.status, p.header)
			}
		}
	}
	b.open("/").is(200).says("You are ann")
	if a := h.ask("GET", "/api/processes", nil, "Origin",
		listed).is(200); a.header.Get("Access-Control-Allow-Origin") != listed {
		t.Errorf("the API does not hear it: %v", a.header)
	}
}

// withRights lets in whoever has the token, with some rights alone.
type withRights struct {
	*access.TokenGuard
	rights []access.Right
}

func (g withRights) Identify(r *http.Request) (*access.Person, error) {
	return g.limited(g.TokenGuard.Identify(r))
}

func (g withRights) LoggedInPerson(name string, groups []string, account client.Account) (*access.Person, error) {
	return g.limited(g.TokenGuard.LoggedInPerson(name, groups, account))
}

func (g withRights) limited(p *access.Person, err error) (*access.Person, error) {
	if err == nil {
		p.Rights = g.rights
	}
	return p, err
}

// Who may decide and not look is shown nothing of what they decide on, whatever they send and wherever.
func TestWhoMayDecideAndNotLookIsShownNoParameters(t *testing.T) {
	const mark = "zebra"
	all := open(t)
	planned, plan := all.planned("", `{"name": "`+mark+`"}`)
	paid := "shown-" + planned
	all.post("/api/processes", payment(paid, `{"values": {"order": "`+mark+`", "cents": 5}}`)).is(201)
	call, _ := all.waiting(paid, 1)[0]["call"].(string)
	wrong := strings.Repeat("0", 64)
	form := url.Values{"decision": {"approve"}, "digest": {wrong}, "pick": {"x"}, "back": {"/"}}
	if p := all.browse().post("/desk/calls/"+paid+"/"+url.PathEscape(call), form); p.status != 409 ||
		!strings.Contains(p.source, mark) {
		t.Fatalf("who may look is not shown what waits: %d", p.status)
	}
	guard := withRights{must(access.NewTokenGuard(token, access.Person{Name: "ann"})), []access.Right{access.Decide}}
	h := open(t, func(o *server.Options) { o.Guard = guard })
	b := h.stranger()
	b.open("/?token=" + token).is(403)
	for _, process := range []string{paid, planned} {
		for _, r := range deskRoutes(t, process, call) {
			p := b.open
			if r.method == http.MethodPost {
				p = func(address string) *page { return b.post(address, form) }
			}
			if r.path == "/desk/leave" || r.path == "/desk/enter" {
				continue
			}
			if got := p(r.path); strings.Contains(got.source, mark) {
				t.Errorf("%s %s shows it: %d", r.method, r.path, got.status)
			}
		}
		at := "/api/processes/" + url.PathEscape(process)
		for path, body := range map[string]any{
			"/api/decisions": map[string]any{
				"decisions": []any{map[string]any{"process": process, "call": call, "digest": wrong,
					"decision": "approve"},
					map[string]any{"process": process, "call": call, "digest": wrong, "decision": "amend",
						"params": map[string]any{"values": 7}}}},
			at + "/plans/decision": map[string]any{"digest": wrong, "decision": "approve"},
		} {
			if a := h.post(path, body); strings.Contains(string(a.body), mark) {
				t.Errorf("POST %s shows it: %d %s", path, a.status, a.body)
			}
		}
	}
	if plan["digest"] == wrong {
		t.Error("the digest is not wrong")
	}
	for _, id := range []string{paid, planned} {
		all.post("/api/processes/"+id+"/cancel", nil).is(204)
	}
}
