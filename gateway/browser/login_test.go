package browser_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/gateway/access"
	"processidea/gateway/access/issuertest"
	"processidea/gateway/server"
)

// withIssuer has people log in at an issuer. What is set in the environment is what a gateway would be given.
func withIssuer(t *testing.T, i *issuertest.Issuer) func(*server.Options, string) {
	t.Helper()
	roles := filepath.Join(t.TempDir(), "roles.json")
	err := os.WriteFile(roles,
		[]byte(
			`{"roles": [{"may": ["look", "decide"], "groups": ["finance"]}, {"may": ["look"], "people": ["gus@example.com"]}]}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	i.People["ann"] = issuertest.Claims{"email": "ann@example.com", "email_verified": true,
		"groups": []string{"finance"}}
	i.People["gus"] = issuertest.Claims{"email": "gus@example.com", "email_verified": true}
	i.People["eve"] = issuertest.Claims{"email": "eve@example.com", "email_verified": true}
	return func(o *server.Options, url string) {
		// The issuer has the name of another site, as in the world.
		elsewhere := strings.Replace(i.URL, "127.0.0.1", "localhost", 1)
		i.SetURL(elsewhere)
		i.ClientRedirectURL = url + access.CallbackPath
		env := map[string]string{
			server.IssuerVariable: i.URL, server.AudienceVariable: "process-idea", server.RolesVariable: roles,
			server.GatewayURLVariable: url,
			server.ClientIDVariable:   issuertest.ClientID, server.ClientSecretVariable: issuertest.ClientSecret,
		}
		made, err := server.FromEnvironment("127.0.0.1:0", access.Person{},
			func(name string) string { return env[name] })
		if err != nil {
			t.Fatal(err)
		}
		o.Guard = made.Guard
	}
}

func TestPeopleLogInAtTheirIssuerAndDecideAsWhoTheyAre(t *testing.T) {
	starter := open(t)
	id := starter.pays(row("A1", 1))
	i := issuertest.Start(t)
	h := open(t, withIssuer(t, i))
	for _, scripts := range []bool{true, false} {
		b := h.stranger()
		if !scripts {
			b.withoutScripts()
		}
		if status := b.open("/?process=" + id); status != http.StatusUnauthorized {
			t.Errorf("a stranger is answered %d", status)
		}
		b.press(link("Log in"))
		b.says("Who are you?")
		b.click("//a[contains(., 'ann')]")
		b.arrives("/?process=" + id)
		b.says("You are ann@example.com", "1 case waits for you", "Approve selected")
		if shown := js[string](b, `document.cookie`); shown != "" {
			t.Errorf("a script reads the session: %s", shown)
		}
		// A second gateway behind the same address, or the same one after a restart, knows the session.
		h.stop()
		h.start()
		b.open("/")
		b.says("You are ann@example.com")
		if scripts {
			b.click(button("Log out"))
			eventually(t, "one is asked again who one is",
				func() bool {
					return b.address() == "/" && strings.Contains(b.text(), "You log in where you always do")
				})
			if i.LastLogoutRedirect() != h.url+"/" {
				t.Errorf("the issuer was not told that one logs out: %q", i.LastLogoutRedirect())
			}
			continue
		}
		b.show(id, "A1")
		b.press(button("Approve"))
		b.says("1 case is approved")
	}
	if got := starter.receipts(id); got != "Order A1: 1 cents" {
		t.Error(got)
	}
	b := starter.browse()
	b.open("/desk/processes/" + id + "/idea?at=3")
	b.says("ann@example.com of finance: approved")
}

func TestRolesHoldForWhoLogsInAtTheIssuer(t *testing.T) {
	i := issuertest.Start(t)
	h := open(t, withIssuer(t, i))
	starter := open(t)
	id := starter.pays(row("A1", 1))
	gus := h.stranger()
	gus.enters("gus")
	gus.open("/?who=all&process=" + id)
	gus.press("//tbody//th//a")
	if js[bool](gus, `!!document.querySelector("main button[name=decision]:not([value=comment])")`) {
		t.Error("who may look alone is offered more than to comment")
	}
	digest := js[string](gus, `document.querySelector(".digest code").textContent`)
	status := js[int](
		gus, `fetch(location.pathname, {method: "POST", body: new URLSearchParams({decision: "approve", digest: `+
			jsonText(digest)+`})}).then((r) => r.status)`)
	if status != http.StatusForbidden {
		t.Errorf("who may look alone decides: %d", status)
	}
	eve := h.stranger()
	eve.open("/")
	eve.press(link("Log in"))
	eve.click("//a[contains(., 'eve')]")
	eve.arrives("/")
	eve.says("You may not do that", "eve@example.com may not look here")
}

// enters logs in at the issuer.
func (t *tab) enters(name string) {
	t.Helper()
	t.open("/")
	t.press(link("Log in"))
	t.click("//a[contains(., '" + name + "')]")
	t.arrives("/")
}

// arrives waits until the browser has come to a page by itself.
func (t *tab) arrives(address string) {
	t.Helper()
	eventually(t, "the browser comes to "+address, func() bool {
		at, err := tryJS[string](t, `document.readyState === "complete" ? location.href : ""`)
		return err == nil && at == t.url+address
	})
}

func TestALoginThatWasNotBegunInThisBrowserIsRefused(t *testing.T) {
	i := issuertest.Start(t)
	h := open(t, withIssuer(t, i))
	b := h.stranger()
	for _, back := range []string{"", "?code=x&state=y", "?state=&code=x", "?error=access_denied&state=z"} {
		if status := b.open(access.CallbackPath + back); status != http.StatusUnauthorized {
			t.Errorf("%s is answered %d", back, status)
		}
		b.says("was not begun in this browser")
	}
	b.open("/?token=" + token)
	b.says("Log in")
	b.open("/desk/login?next=https://evil.example/")
	to := js[string](b, `document.querySelector("a[href*='person=ann']").href`)
	other := h.stranger()
	other.open(to)
	other.says("was not begun in this browser")
	other.open("/")
	other.lacks("You are ann")
	b.open(to)
	b.arrives("/")
	b.says("You are ann@example.com")
	// The issuer refuses.
	c := h.stranger()
	c.open("/desk/login")
	c.open(strings.Replace(js[string](c, `document.querySelector("a[href*='person=ann']").href`), "person=ann",
		"person=nobody", 1))
	c.says("The issuer did not log you in", "access_denied")
}
