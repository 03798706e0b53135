// Package issuertest is an OpenID Connect issuer for tests, at which people log in: the authorization code flow with
// PKCE, and logging out. It checks what a careful issuer checks of its client.
package issuertest

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

// The client that people log in for.
const (
	Client = "the-desk"
	Secret = "a-secret-of-the-desk-for-tests"
)

// Claims are the claims of a token.
type Claims map[string]any

// Issuer answers over HTTP. Its people log in by pressing their name.
type Issuer struct {
	URL string
	// Redirect is the only address that it sends people back to.
	Redirect string
	// People are the claims of each person by name. Those under "userinfo" come from the userinfo endpoint only.
	People map[string]Claims
	// Change, when set, changes the claims of a token before it is signed.
	Change func(Claims)

	key  ed25519.PrivateKey
	keys *oidctest.Server
	mu   sync.Mutex
	// codes are the unused authorization codes, and infos the userinfo by access token.
	codes map[string]url.Values
	infos map[string]Claims
	// ended is the address to which the last logout was sent back.
	ended string
}

// Start serves an issuer until the test is over.
func Start(t testing.TB) *Issuer {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{People: map[string]Claims{}, key: private, codes: map[string]url.Values{}, infos: map[string]Claims{}}
	i.keys = &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: public, KeyID: "k1", Algorithm: oidc.EdDSA}},
		Algorithms: []string{oidc.EdDSA}}
	mux := http.NewServeMux()
	mux.Handle("/", i.keys)
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /auth", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /userinfo", i.userinfo)
	mux.HandleFunc("GET /end", i.end)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	i.Move(web.URL)
	return i
}

// Move changes the issuer's address to another name that leads here.
func (i *Issuer) Move(address string) {
	i.URL = address
	i.keys.SetIssuer(address)
}

// Ended returns the address to which the last logout was sent back.
func (i *Issuer) Ended() string { i.mu.Lock(); defer i.mu.Unlock(); return i.ended }

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/auth", "token_endpoint": i.URL + "/token",
		"jwks_uri":          i.URL + "/keys",
		"userinfo_endpoint": i.URL + "/userinfo", "end_session_endpoint": i.URL + "/end",
		"response_types_supported": []string{"code"},
		"subject_types_supported":  []string{"public"}, "id_token_signing_alg_values_supported": []string{oidc.EdDSA},
		"scopes_supported": []string{"openid", "email", "groups"}, "code_challenge_methods_supported": []string{"S256"},
	})
}

// authorize asks who the person is. The query parameter person answers that without a page.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != Client || q.Get("redirect_uri") != i.Redirect || q.Get("response_type") != "code" ||
		q.Get("code_challenge_method") != "S256" ||
		q.Get("code_challenge") == "" || q.Get("state") == "" || q.Get("nonce") == "" {
		http.Error(w, "this is no request that an issuer answers: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	person := q.Get("person")
	back := url.Values{"state": {q.Get("state")}, "iss": {i.URL}}
	switch {
	case person == "":
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<!doctype html><title>issuer</title><main><h1>Who are you?</h1>")
		for name := range i.People {
			q.Set("person", name)
			_, _ = fmt.Fprintf(w, `<p><a href="/auth?%s">I am %s</a></p>`, html.EscapeString(q.Encode()),
				html.EscapeString(name))
		}
		return
	case i.People[person] == nil:
		back.Set("error", "access_denied")
	default:
		code := rand.Text()
		i.mu.Lock()
		i.codes[code] = q
		i.mu.Unlock()
		back.Set("code", code)
	}
	http.Redirect(w, r, i.Redirect+"?"+back.Encode(), http.StatusFound)
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if id == "" {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	asked := i.codes[r.PostFormValue("code")]
	delete(i.codes, r.PostFormValue("code"))
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	wrong := ""
	switch {
	case id != Client || secret != Secret:
		wrong = "invalid_client"
	case asked == nil, r.PostFormValue("redirect_uri") != i.Redirect,
		r.PostFormValue("grant_type") != "authorization_code",
		base64.RawURLEncoding.EncodeToString(challenge[:]) != asked.Get("code_challenge"):
		wrong = "invalid_grant"
	}
	if wrong != "" {
		answer(w, http.StatusBadRequest, map[string]any{"error": wrong})
		return
	}
	claims := Claims{"iss": i.URL, "aud": Client, "sub": asked.Get("person"), "nonce": asked.Get("nonce"),
		"iat": time.Now().Unix(), "exp": time.Now().Add(5 * time.Minute).Unix()}
	maps.Copy(claims, i.People[asked.Get("person")])
	access := rand.Text()
	i.infos[access], _ = claims["userinfo"].(Claims)
	delete(claims, "userinfo")
	if i.Change != nil {
		i.Change(claims)
	}
	data, _ := json.Marshal(claims)
	answer(w, http.StatusOK, map[string]any{
		"access_token": access, "token_type": "Bearer", "expires_in": 300,
		"id_token": oidctest.SignIDToken(i.key, "k1", oidc.EdDSA, string(data)),
	})
}

func (i *Issuer) userinfo(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	info, known := i.infos[r.Header.Get("Authorization")[min(len("Bearer "), len(r.Header.Get("Authorization"))):]]
	if !known {
		http.Error(w, "no such token", http.StatusUnauthorized)
		return
	}
	answer(w, http.StatusOK, info)
}

// end logs a person out and redirects to the given address.
func (i *Issuer) end(w http.ResponseWriter, r *http.Request) {
	back := r.URL.Query().Get("post_logout_redirect_uri")
	if r.URL.Query().Get("client_id") != Client || back == "" {
		http.Error(w, "who logs out of what?", http.StatusBadRequest)
		return
	}
	i.mu.Lock()
	i.ended = back
	i.mu.Unlock()
	http.Redirect(w, r, back, http.StatusFound)
}
