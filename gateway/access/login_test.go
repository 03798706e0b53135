package access_test

import (
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/access/issuertest"
)

const address = "https://gateway.example.com"

// login is a gateway's, at an issuer that knows ann.
func login(t *testing.T, set ...func(*access.LoginClient)) (*access.IssuerLogin, *issuertest.Issuer) {
	t.Helper()
	i := issuertest.Start(t)
	i.ClientRedirectURL = address + access.CallbackPath
	i.People["ann"] = issuertest.Claims{"email": "ann@example.com", "email_verified": true,
		"groups": []string{"finance"}}
	file := filepath.Join(t.TempDir(), "roles.json")
	if err := os.WriteFile(file, []byte(`{"roles": [{"may": ["look", "decide"], "groups": ["finance"]}]}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	roles, err := access.OpenRoles(file)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := access.NewIssuerGuard(access.Issuer{URL: i.URL, Audience: "process-idea", Roles: roles})
	if err != nil {
		t.Fatal(err)
	}
	c := access.LoginClient{ID: issuertest.ClientID, Secret: issuertest.ClientSecret, GatewayURL: address}
	for _, f := range set {
		f(&c)
	}
	l, err := access.NewIssuerLogin(guard, c)
	if err != nil {
		t.Fatal(err)
	}
	return l, i
}

// code logs somebody in at the issuer, and gives what it sends back.
func code(t *testing.T, l *access.IssuerLogin, a access.LoginAttempt, person string) url.Values {
	t.Helper()
	to, err := l.LoginURL(a)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to+"&person="+person, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	back, err := answer.Location()
	if err != nil || !strings.HasPrefix(back.String(), address+access.CallbackPath+"?") {
		t.Fatalf("the issuer answers %d: %v %v", answer.StatusCode, back, err)
	}
	return back.Query()
}

func TestWhoLogsInAtTheIssuerIsWhoItNamesWithTheRightsOfTheirRoles(t *testing.T) {
	t.Parallel()
	l, _ := login(t)
	a := access.NewLoginAttempt("/")
	back := code(t, l, a, "ann")
	if back.Get("state") != a.OAuthState {
		t.Errorf("%v", back)
	}
	who, err := l.Finish(t.Context(), a, back.Get("code"))
	if err != nil || who.Name != "ann@example.com" || !slices.Equal(who.Groups, []string{"finance"}) ||
		!who.May(access.Decide) || who.May(access.Start) || who.MayDecideAsOthers {
		t.Errorf("%+v %v", who, err)
	}
	if _, err := l.Finish(t.Context(), a, back.Get("code")); err == nil ||
		!strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("a code counts twice: %v", err)
	}
}

func TestALoginCountsForTheAttemptAndTheClientThatBeganItAlone(t *testing.T) {
	t.Parallel()
	other := access.NewLoginAttempt("/")
	for name, c := range map[string]struct {
		change  func(issuertest.Claims)
		attempt func(*access.LoginAttempt)
		client  func(*access.LoginClient)
	}{
		"another nonce": {
			attempt: func(a *access.LoginAttempt) { a.Nonce = other.Nonce }},
		"another verifier": {
			attempt: func(a *access.LoginAttempt) { a.PKCEVerifier = other.PKCEVerifier }},
		"no nonce in the token": {
			change: func(c issuertest.Claims) { delete(c, "nonce") }},
		"a token for another client": {
			change: func(c issuertest.Claims) { c["aud"] = "another" }},
		"one for programs' audience": {
			change: func(c issuertest.Claims) { c["aud"] = "process-idea" }},
		"one of another issuer": {
			change: func(c issuertest.Claims) { c["iss"] = "https://evil.example" }},
		"one that has expired": {change: func(c issuertest.Claims) { c["exp"] = 1 }},
		"a name that is not verified": {
			change: func(c issuertest.Claims) { c["email_verified"] = false }},
		"a name of which it is not said whether it is verified": {
			change: func(c issuertest.Claims) { delete(c, "email_verified") }},
		"one issued in the future": {
			change: func(c issuertest.Claims) { c["iat"] = time.Now().Add(time.Hour).Unix() }},
		"a name that nobody sees": {
			change: func(c issuertest.Claims) { c["email"] = "ann\u200b@example.com" }},
		"no name": {
			change: func(c issuertest.Claims) { delete(c, "email") }},
		"another secret": {
			client: func(c *access.LoginClient) { c.Secret = "another-secret-of-the-desk" }},
	} {
		t.Run(name, func(t *testing.T) {
			l, i := login(t, func(lc *access.LoginClient) {
				if c.client != nil {
					c.client(lc)
				}
			})
			i.ChangeIDTokenClaims = c.change
			a := access.NewLoginAttempt("/")
			back := code(t, l, a, "ann")
			if c.attempt != nil {
				c.attempt(&a)
			}
			who, err := l.Finish(t.Context(), a, back.Get("code"))
			if err == nil {
				t.Errorf("it counts: %+v", who)
			} else if strings.Contains(err.Error(), back.Get("code")) || strings.Contains(err.Error(), "eyJ") ||
				strings.Contains(err.Error(), issuertest.ClientSecret) {
				t.Errorf("the error holds what is secret: %v", err)
			}
		})
	}
}

func TestWhatTheIssuerTellsAtItsUserinfoAloneIsReadThere(t *testing.T) {
	t.Parallel()
	l, i := login(t)
	info := issuertest.Claims{"sub": "ann", "email": "ann@example.com", "email_verified": true,
		"groups": []string{"finance"}}
	i.People["ann"] = issuertest.Claims{"userinfo": info}
	a := access.NewLoginAttempt("/")
	who, err := l.Finish(t.Context(), a, code(t, l, a, "ann").Get("code"))
	if err != nil || who.Name != "ann@example.com" || len(who.Groups) != 1 {
		t.Errorf("%+v %v", who, err)
	}
	// What the signed token says counts more, and another person's does not count.
	i.People["ann"] = issuertest.Claims{"email": "ann@example.com", "email_verified": true,
		"userinfo": issuertest.Claims{"sub": "ann", "email": "bob@example.com", "groups": []string{"finance"}}}
	if who, err = l.Finish(t.Context(), a, code(t, l, a, "ann").Get("code")); err != nil ||
		who.Name != "ann@example.com" || len(who.Groups) != 1 {
		t.Errorf("%+v %v", who, err)
	}
	// Whether an email is verified may stand there alone, and is said of that email alone.
	for email, counts := range map[string]bool{"ann@example.com": true, "eve@example.com": false} {
		i.People["ann"] = issuertest.Claims{"email": email, "groups": []string{"finance"}, "userinfo": info}
		who, err = l.Finish(t.Context(), a, code(t, l, a, "ann").Get("code"))
		if counts != (err == nil) {
			t.Errorf("%s: %+v %v", email, who, err)
		}
	}
	other := maps.Clone(info)
	other["sub"] = "bob"
	i.People["ann"] = issuertest.Claims{"userinfo": other}
	if who, err = l.Finish(t.Context(), a, code(t, l, a, "ann").Get("code")); err == nil {
		t.Errorf("the userinfo of another counts: %+v", who)
	}
}

func TestGatewaysOfOneClientTakeEachOthersSessionsAndNoOthers(t *testing.T) {
	t.Parallel()
	one, _ := login(t)
	two, _ := login(t)
	other, _ := login(t, func(c *access.LoginClient) { c.Secret = "another-secret-of-the-desk" })
	if string(one.SessionSecret()) != string(two.SessionSecret()) ||
		string(one.SessionSecret()) == string(other.SessionSecret()) {
		t.Error("sessions are not those of the client")
	}
	if who, err := one.LoggedInPerson("ann@example.com", []string{"guests"}, client.Account{}); err != nil ||
		len(who.Rights) != 0 {
		t.Errorf("rights are not those of now: %+v %v", who, err)
	}
}

func TestAClientThatCannotBeUsedIsRefused(t *testing.T) {
	t.Parallel()
	l, _ := login(t)
	good := access.LoginClient{ID: "desk", Secret: issuertest.ClientSecret, GatewayURL: address}
	for name, set := range map[string]func(*access.LoginClient){
		"no id":                   func(c *access.LoginClient) { c.ID = "" },
		"a short secret":          func(c *access.LoginClient) { c.Secret = "secret" },
		"no address":              func(c *access.LoginClient) { c.GatewayURL = "" },
		"an address with TLS off": func(c *access.LoginClient) { c.GatewayURL = "http://gateway.example.com" },
		"an address with a path":  func(c *access.LoginClient) { c.GatewayURL = address + "/desk" },
	} {
		c := good
		set(&c)
		if _, err := access.NewIssuerLogin(l.IssuerGuard, c); err == nil ||
			strings.Contains(err.Error(), issuertest.ClientSecret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOneLogsOutAtTheIssuerToo(t *testing.T) {
	t.Parallel()
	l, i := login(t)
	to, err := url.Parse(l.LogoutURL())
	if err != nil || !strings.HasPrefix(to.String(), i.URL+"/end?") ||
		to.Query().Get("post_logout_redirect_uri") != address+"/" || to.Query().Get("client_id") != issuertest.ClientID {
		t.Errorf("%v %v", to, err)
	}
}
