package server_test

import (
	"bufio"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/go-jose/go-jose/v4"

	"processidea/gateway/access"
	"processidea/gateway/server"
	"processidea/store/signing"
)

type claims map[string]any

// issuer is an OpenID Connect issuer, made by others for tests.
type issuer struct {
	*testing.T
	url   string
	key   ed25519.PrivateKey
	roles string
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &oidctest.Server{
		PublicKeys: []oidctest.PublicKey{{PublicKey: public, KeyID: "k1", Algorithm: oidc.EdDSA}},
		Algorithms: []string{oidc.EdDSA, oidc.RS256},
	}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.SetIssuer(web.URL)
	i := &issuer{t, web.URL, private, filepath.Join(t.TempDir(), "roles.json")}
	i.write(`{"roles": [{"may": ["look", "start", "decide", "steer"], "groups": ["staff"]}, {"may": ["look"], "groups": ["guests"]},
		{"may": ["decide"], "people": ["dan@example.com"]}]}`)
	return i
}

func (i *issuer) write(roles string) {
	i.Helper()
	if err := os.WriteFile(i.roles, []byte(roles), 0o600); err != nil {
		i.Fatal(err)
	}
}

// open serves a gateway that trusts the issuer.
func (i *issuer) open(t *testing.T, key *signing.PrivateKey) *house {
	t.Helper()
	roles, err := access.OpenRoles(i.roles)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := access.NewIssuerGuard(access.Issuer{URL: i.url, Audience: "process-idea", Roles: roles,
		DecisionSigningKey: key})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, func(o *server.Options) { o.Guard = guard })
}

func (i *issuer) claims(more claims) claims {
	c := claims{"iss": i.url, "aud": "process-idea", "sub": nil, "email": "ann@example.com", "email_verified": true,
		"groups": []string{"staff"},
		"iat":    time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(c, more)
	if c["sub"] == nil { // each email is of an account of its own
		c["sub"] = fmt.Sprint("account of ", c["email"])
	}
	for k, v := range c {
		if v == nil {
			delete(c, k)
		}
	}
	return c
}

// token is one of the issuer; more changes its claims.
func (i *issuer) token(more claims) string {
	data, _ := json.Marshal(i.claims(more))
	return oidctest.SignIDToken(i.key, "k1", oidc.EdDSA, string(data))
}

// as asks with another token.
func (h *house) as(token string) *house { return &house{h.T, h.url, token, h.log, h.stop} }

func TestOnlyATokenOfTheIssuerForThisAudienceIsLetIn(t *testing.T) {
	i := newIssuer(t)
	h := i.open(t, nil)
	data, _ := json.Marshal(i.claims(nil))
	enc := base64.RawURLEncoding.EncodeToString
	none := enc([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + enc(data) + "."
	public, _ := i.key.Public().(ed25519.PublicKey)
	shared, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(public)},
		(&jose.SignerOptions{}).WithHeader("kid", "k1"))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := shared.Sign(data)
	if err != nil {
		t.Fatal(err)
	}
	hs256, _ := signed.CompactSerialize()
	_, other, _ := ed25519.GenerateKey(rand.Reader)
	good := i.token(nil)
	for name, c := range map[string]struct {
		token, code string
	}{
		"no token":                       {"", "no-token"},
		"no JWT":                         {"hello", "bad-token"},
		"an expired one":                 {i.token(claims{"exp": time.Now().Add(-time.Minute).Unix()}), "bad-token"},
		"one that never expires":         {i.token(claims{"exp": nil}), "bad-token"},
		"one that does not hold yet":     {i.token(claims{"nbf": time.Now().Add(time.Hour).Unix()}), "bad-token"},
		"one for another audience":       {i.token(claims{"aud": "another"}), "bad-token"},
		"one for nobody":                 {i.token(claims{"aud": nil}), "bad-token"},
		"one of another issuer":          {i.token(claims{"iss": "https://issuer.example.com"}), "bad-token"},
		"one of another key":             {oidctest.SignIDToken(other, "k1", oidc.EdDSA, string(data)), "bad-token"},
		"one of a key that is not there": {oidctest.SignIDToken(other, "k2", oidc.EdDSA, string(data)), "bad-token"},
		"alg none":                       {none, "bad-token"},
		"alg none with a signature":      {none + "AAAA", "bad-token"},
		"one signed with the public key": {hs256, "bad-token"},
		"a changed one":                  {good[:len(good)-8] + "AAAAAAAA", "bad-token"},
		"one without a name":             {i.token(claims{"email": nil}), "bad-token"},
		"an email that is not verified":  {i.token(claims{"email_verified": false}), "bad-token"},
		"an email of unknown standing":   {i.token(claims{"email_verified": nil}), "bad-token"},
		"one issued in the future":       {i.token(claims{"iat": time.Now().Add(time.Hour).Unix()}), "bad-token"},
		"one issued beyond all integers": {i.token(claims{"iat": 1e300}), "bad-token"},
		"one not valid before those":     {i.token(claims{"nbf": 1e19}), "bad-token"},
		"a name that nobody sees":        {i.token(claims{"email": "ann\u00ad@example.com"}), "bad-token"},
		"a name in two scripts":          {i.token(claims{"email": "\u0430nn@example.com"}), "bad-token"},
		"the name of all":                {i.token(claims{"email": "*"}), "bad-token"},
		"groups that are no list":        {i.token(claims{"groups": claims{"staff": true}}), "bad-token"},
		"the token of the loopback":      {token, "bad-token"},
	} {
		a := h.as(c.token).get("/api/processes")
		a.problem(401, c.code)
		if a.header.Get("WWW-Authenticate") != "Bearer" || c.token != "" && strings.Contains(string(a.body), c.token) {
			t.Errorf("%s: %v %s", name, a.header, a.body)
		}
	}
	h.as(good).get("/api/processes").is(200)
	if a := h.as("").get("/api/processes/x/events?token=" + good); a.problem(401, "no-token") == nil {
		t.Error("a token in the address is taken")
	}
	h.as("").get("/openapi.json").is(200)
}

func TestRolesSayWhoMayDoWhat(t *testing.T) {
	i := newIssuer(t)
	h := i.open(t, nil)
	guest := h.as(i.token(claims{"email": "guest@example.com", "groups": []string{"guests"}}))
	guest.get("/api/processes").is(200)
	guest.post("/api/processes", letter("guests-letter", "Why?")).problem(403, "forbidden")
	for _, verb := range []string{"pause", "resume", "revise", "add", "cancel", "fork"} {
		guest.post("/api/processes/any/"+verb, `{}`).problem(403, "forbidden")
	}
	decision := map[string]any{
		"decisions": []any{map[string]any{"process": "p", "call": "1.1", "digest": strings.Repeat("0", 64),
			"decision": "approve"}}}
	guest.post("/api/decisions", decision).problem(403, "forbidden")
	dan := h.as(i.token(claims{"email": "dan@example.com", "groups": nil}))
	dan.get("/api/processes").problem(403, "forbidden")
	dan.post("/api/decisions", decision).is(200)
	i.write(`{"roles": [{"may": ["look"], "people": ["*"]}]}`)
	dan.get("/api/processes").is(200)
	dan.post("/api/decisions", decision).problem(403, "forbidden")
	for n, broken := range []string{`{`, `{"roles": [{"may": ["fly"], "people": ["*"]}]}`,
		`{"roles": [{"may": ["look"]}]}`,
		`{"roles": [{"may": ["look"], "people": ["*"], "group": ["x"]}]}`} {
		i.write(broken)
		for _, a := range []*answer{dan.get("/api/processes"), dan.post("/mcp", `{}`), h.as("").get("/readyz"),
			dan.get("/api/processes")} {
			if a.problem(503, access.CodeBrokenRoles); strings.Contains(string(a.body), i.roles) {
				t.Errorf("it says where the file is: %s", a.body)
			}
		}
		if got := h.log.String(); strings.Count(got, "level=WARN") != n+1 || strings.Contains(got, "level=ERROR") ||
			!strings.Contains(got, i.roles) {
			t.Errorf("the log does not say once what is broken: %s", got)
		}
	}
	i.write(`{"roles": [{"may": ["look"], "people": ["*"]}]}`)
	dan.get("/api/processes").is(200)
	if a := h.as("").ask("GET", "/readyz", nil, "Host", "10.0.0.7"); a.is(200).status != 200 ||
		!strings.Contains(h.log.String(), "whole again") {
		t.Errorf("it is not said that it is mended: %s", h.log)
	}
}

func TestAnEmailOfUnknownStandingCountsWhereTheOperatorSaysSo(t *testing.T) {
	i := newIssuer(t)
	roles, err := access.OpenRoles(i.roles)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := access.NewIssuerGuard(access.Issuer{URL: i.url, Audience: "process-idea", Roles: roles,
		AllowsUnverifiedEmail: true})
	if err != nil {
		t.Fatal(err)
	}
	h := open(t, func(o *server.Options) { o.Guard = guard })
	h.as(i.token(claims{"email_verified": nil})).get("/api/processes").is(200)
	h.as(i.token(claims{"email_verified": false})).get("/api/processes").problem(401, "bad-token")
}

func TestAGroupThatNobodySeesGivesNothing(t *testing.T) {
	i := newIssuer(t)
	h := i.open(t, nil)
	h.as(i.token(claims{"groups": []string{"x\u200b", "Staff"}})).get("/api/processes").is(200)
	h.as(i.token(claims{"groups": []string{"staff\u200b"}})).get("/api/processes").problem(403, "forbidden")
}

func TestAnIssuerThatIsAwayIsNobodysMistake(t *testing.T) {
	i := newIssuer(t)
	token := i.token(nil)
	i.url = "http://127.0.0.1:1"
	a := i.open(t, nil).as(token).get("/api/processes")
	if a.problem(503, "issuer-away"); strings.Contains(string(a.body), "127.0.0.1") {
		t.Errorf("it tells strangers of its network: %s", a.body)
	}
}

func TestWhatAForeignPageCausesIsRefused(t *testing.T) {
	h := open(t)
	own := strings.TrimPrefix(h.url, "http://")
	_, port, _ := net.SplitHostPort(own)
	for _, c := range []struct {
		name    string
		headers []string
		status  int
		code    string
	}{
		{"a program", nil, 200, ""},
		{"its own page", []string{"Origin", h.url, "Sec-Fetch-Site", "same-origin"}, 200, ""},
		{"what a person typed", []string{"Sec-Fetch-Site", "none"}, 200, ""},
		{"a fetch of a foreign page", []string{"Origin", "https://evil.example"}, 403, "foreign-page"},
		{"a page of another port of this machine", []string{"Origin", "http://127.0.0.1:1"}, 403, "foreign-page"},
		{"a page in a sandbox, or a file", []string{"Origin", "null"}, 403, "foreign-page"},
		{"an image of a foreign page", []string{"Sec-Fetch-Site", "cross-site"}, 403, "foreign-page"},
		{"a page of another name of the site", []string{"Sec-Fetch-Site", "same-site"}, 403, "foreign-page"},
		{"DNS rebinding", []string{"Host", "evil.example:" + port, "Origin", "http://evil.example:" + port,
			"Sec-Fetch-Site", "same-origin"}, 421, "foreign-host"},
		{"DNS rebinding without an origin", []string{"Host", "evil.example"}, 421, "foreign-host"},
		{"a name that looks like this machine's", []string{"Host", "localhost.evil.example"}, 421, "foreign-host"},
		{"an address of another machine", []string{"Host", "10.0.0.7:" + port}, 421, "foreign-host"},
		{"this machine by its name", []string{"Host", "localhost:" + port}, 200, ""},
		{"this machine by its other address", []string{"Host", "[::1]:" + port}, 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &house{t, h.url, h.token, h.log, h.stop}
			a := h.ask("GET", "/api/processes", nil, c.headers...)
			if c.code == "" {
				a.is(c.status)
			} else if a.problem(c.status, c.code); a.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%v", a.header)
			}
		})
	}
	// A form of a foreign page, in a browser that tells of no site.
	for _, ct := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
		h.ask("POST", "/api/processes/any/cancel", "{}", "Content-Type", ct, "Origin",
			"https://evil.example").problem(403, "foreign-page")
	}
	// What a page of a named origin may, it is told; no other is told anything.
	named := open(t, func(o *server.Options) {
		o.OriginPolicy = access.OriginPolicy{AllowedOrigins: []string{"https://desk.example"},
			OwnHostNames: []string{"gateway.example"}}
	})
	a := named.as("").ask("OPTIONS", "/api/processes", nil, "Origin", "https://desk.example", "Host",
		"gateway.example").is(204)
	if a.header.Get("Access-Control-Allow-Origin") != "https://desk.example" ||
		a.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%v", a.header)
	}
	named.ask("GET", "/api/processes", nil, "Origin", "https://desk.example").is(200)
	named.ask("OPTIONS", "/api/processes", nil, "Origin", "https://evil.example").problem(403, "foreign-page")
}

// endless is a body without an end.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.read == 0 {
		e.read += 10
		return copy(p, `{"idea": "`), nil
	}
	if e.read > 1<<30 {
		return 0, io.EOF
	}
	for n := range p {
		p[n] = 'x'
	}
	e.read += int64(len(p))
	return len(p), nil
}

func TestABodyWithoutAnEndIsNotRead(t *testing.T) {
	h := open(t)
	own := strings.TrimPrefix(h.url, "http://")
	for _, length := range []string{"Content-Length: 1073741824", "Transfer-Encoding: chunked"} {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", own)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		body := &endless{}
		go func() {
			fmt.Fprintf(c, "POST /api/processes HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: "+
				"application/json\r\n%s\r\n\r\n", own, token, length)
			if strings.HasPrefix(length, "Content") {
				_, _ = io.Copy(c, body)
				return
			}
			for part := make([]byte, 1<<20); ; {
				n, err := body.Read(part)
				if err != nil {
					return
				}
				if _, err := fmt.Fprintf(c, "%x\r\n%s\r\n", n, part[:n]); err != nil {
					return
				}
			}
		}()
		status, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(status, "413") {
			t.Errorf("%s: %s %v", length, status, err)
		}
	}
}

func TestASlowRequestIsNotWaitedFor(t *testing.T) {
	h := open(t, func(o *server.Options) { o.RequestTimeout = 100 * time.Millisecond })
	own := strings.TrimPrefix(h.url, "http://")
	head := "POST /api/processes HTTP/1.1\r\nHost: " + own + "\r\nAuthorization: Bearer " + token +
		"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n"
	for name, c := range map[string]struct{ sent, status string }{
		"half a header": {head, ""}, "half a body": {head + "\r\n{", "408"},
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", own)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, c.sent); err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(conn) // it ends when the gateway hangs up
		if !strings.Contains(string(answer), c.status) {
			t.Errorf("%s: %s", name, answer)
		}
	}
}
