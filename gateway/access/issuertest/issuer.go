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
	ClientID     = "the-desk"
	ClientSecret = "a-secret-of-the-desk-for-tests"
)

// Claims are the claims of a token.
type Claims map[string]any

// Issuer answers over HTTP. Its people log in by pressing their name.
type Issuer struct {
	URL string
	// ClientRedirectURL is the only address that it sends people back to.
	ClientRedirectURL string
	// People are the claims of each person by name. Those under "userinfo" come from the userinfo endpoint only.
	People map[string]Claims
	// ChangeIDTokenClaims, when set, changes the claims of a token before it is signed.
	ChangeIDTokenClaims func(Claims)

	signingKey ed25519.PrivateKey
	keyServer  *oidctest.Server
	mu         sync.Mutex
	// authQueryByCode are the unused authorization codes, and infos the userinfo by access token.
	authQueryByCode map[string]url.Values
	userinfoByToken map[string]Claims
	// lastLogoutRedirect is the address to which the last logout was sent back.
	lastLogoutRedirect string
}

// Start serves an issuer until the test is over.
func Start(t testing.TB) *Issuer {
	t.Helper()
	publicKey, privateKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{People: map[string]Claims{}, signingKey: privateKey, authQueryByCode: map[string]url.Values{},
		userinfoByToken: map[string]Claims{}}
	i.keyServer = &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: publicKey, KeyID: "k1",
		Algorithm: oidc.EdDSA}}, Algorithms: []string{oidc.EdDSA}}
	mux := http.NewServeMux()
	mux.Handle("/", i.keyServer)
	mux.HandleFunc("GET /.well-known/openid-configuration", i.serveDiscovery)
	mux.HandleFunc("GET /auth", i.authorize)
	mux.HandleFunc("POST /token", i.serveToken)
	mux.HandleFunc("GET /userinfo", i.serveUserinfo)
	mux.HandleFunc("GET /end", i.logout)
	httpServer := httptest.NewServer(mux)
	t.Cleanup(httpServer.Close)
	i.SetURL(httpServer.URL)
	return i
}

// SetURL changes the issuer's address to another name that leads here.
func (i *Issuer) SetURL(address string) {
	i.URL = address
	i.keyServer.SetIssuer(address)
}

// LastLogoutRedirect returns the address to which the last logout was sent back.
func (i *Issuer) LastLogoutRedirect() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.lastLogoutRedirect
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (i *Issuer) serveDiscovery(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
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
	if q.Get("client_id") != ClientID || q.Get("redirect_uri") != i.ClientRedirectURL ||
		q.Get("response_type") != "code" ||
		q.Get("code_challenge_method") != "S256" ||
		q.Get("code_challenge") == "" || q.Get("state") == "" || q.Get("nonce") == "" {
		http.Error(w, "this is no request that an issuer answers: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	personName := q.Get("person")
	redirectQuery := url.Values{"state": {q.Get("state")}, "iss": {i.URL}}
	switch {
	case personName == "":
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<!doctype html><title>issuer</title><main><h1>Who are you?</h1>")
		for name := range i.People {
			q.Set("person", name)
			_, _ = fmt.Fprintf(w, `<p><a href="/auth?%s">I am %s</a></p>`, html.EscapeString(q.Encode()),
				html.EscapeString(name))
		}
		return
	case i.People[personName] == nil:
		redirectQuery.Set("error", "access_denied")
	default:
		code := rand.Text()
		i.mu.Lock()
		i.authQueryByCode[code] = q
		i.mu.Unlock()
		redirectQuery.Set("code", code)
	}
	http.Redirect(w, r, i.ClientRedirectURL+"?"+redirectQuery.Encode(), http.StatusFound)
}

func (i *Issuer) serveToken(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if id == "" {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	authQuery := i.authQueryByCode[r.PostFormValue("code")]
	delete(i.authQueryByCode, r.PostFormValue("code"))
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	errorCode := ""
	switch {
	case id != ClientID || secret != ClientSecret:
		errorCode = "invalid_client"
	case authQuery == nil, r.PostFormValue("redirect_uri") != i.ClientRedirectURL,
		r.PostFormValue("grant_type") != "authorization_code",
		base64.RawURLEncoding.EncodeToString(challenge[:]) != authQuery.Get("code_challenge"):
		errorCode = "invalid_grant"
	}
	if errorCode != "" {
		writeJSON(w, http.StatusBadRequest, map[string]any{"error": errorCode})
		return
	}
	claims := Claims{"iss": i.URL, "aud": ClientID, "sub": authQuery.Get("person"), "nonce": authQuery.Get("nonce"),
		"iat": time.Now().Unix(), "exp": time.Now().Add(5 * time.Minute).Unix()}
	maps.Copy(claims, i.People[authQuery.Get("person")])
	accessToken := rand.Text()
	i.userinfoByToken[accessToken], _ = claims["userinfo"].(Claims)
	delete(claims, "userinfo")
	if i.ChangeIDTokenClaims != nil {
		i.ChangeIDTokenClaims(claims)
	}
	data, _ := json.Marshal(claims)
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": accessToken, "token_type": "Bearer", "expires_in": 300,
		"id_token": oidctest.SignIDToken(i.signingKey, "k1", oidc.EdDSA, string(data)),
	})
}

func (i *Issuer) serveUserinfo(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	info, known := i.userinfoByToken[r.Header.Get("Authorization")[min(len("Bearer "),
		len(r.Header.Get("Authorization"))):]]
	if !known {
		http.Error(w, "no such token", http.StatusUnauthorized)
		return
	}
	writeJSON(w, http.StatusOK, info)
}

// logout logs a person out and redirects to the given address.
func (i *Issuer) logout(w http.ResponseWriter, r *http.Request) {
	redirectURI := r.URL.Query().Get("post_logout_redirect_uri")
	if r.URL.Query().Get("client_id") != ClientID || redirectURI == "" {
		http.Error(w, "who logs out of what?", http.StatusBadRequest)
		return
	}
	i.mu.Lock()
	i.lastLogoutRedirect = redirectURI
	i.mu.Unlock()
	http.Redirect(w, r, redirectURI, http.StatusFound)
}
