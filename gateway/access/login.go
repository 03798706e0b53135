package access

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// LoginClient is the client at an issuer with which people log in from a browser.
type LoginClient struct {
	ID     string
	Secret string // sessions are sealed with a key derived from it
	// GatewayURL is the address under which people see the gateway, such as https://gateway.example.com.
	GatewayURL string
	// Scopes are requested beside openid; empty: email, profile, and groups if the issuer supports it.
	Scopes []string
}

// IssuerLogin admits people with a token of an issuer, and logs people in there by the authorization code flow with
// PKCE.
type IssuerLogin struct {
	*IssuerGuard
	client LoginClient
}

// CallbackPath is the path to which the issuer sends people back.
const CallbackPath = "/desk/callback"

// NewIssuerLogin makes an IssuerLogin. The error names the invalid setting of the client.
func NewIssuerLogin(g *IssuerGuard, c LoginClient) (*IssuerLogin, error) {
	switch u, err := url.Parse(c.GatewayURL); {
	case c.ID == "":
		return nil, errors.New("access: the client's id is missing: set the id of the issuer's client with which " +
			"people log in")
	case len(c.Secret) < minSecretLength:
		return nil, fmt.Errorf("access: the client's secret, with which sessions are sealed, has fewer than %d "+
			"characters",
			minSecretLength)
	case err != nil || CheckOriginFormat(c.GatewayURL) != nil || !isSecureURL(u):
		return nil,
			fmt.Errorf("access: an issuer cannot send people back to %q: want https://host[:port]", c.GatewayURL)
	}
	return &IssuerLogin{g, c}, nil
}

// SessionSecret returns the secret of sessions. It is the same at every gateway with the same client.
func (l *IssuerLogin) SessionSecret() []byte { return []byte(l.client.ID + "\n" + l.client.Secret) }

// IsHTTPS reports whether people reach the gateway by https only.
func (l *IssuerLogin) IsHTTPS() bool { return l.client.GatewayURL[:5] == "https" }

// LoginAttempt is a login that has begun. The browser keeps it. Its content prevents a login from another browser, with
// the code of another login, or a second time.
type LoginAttempt struct {
	OAuthState   string    `json:"state"`
	Nonce        string    `json:"nonce"`
	PKCEVerifier string    `json:"verifier"` // of PKCE
	ReturnPath   string    `json:"next"`     // the page that the person asked for
	ExpiresAt    time.Time `json:"until"`
}

// LoginAttemptMaxAge is how long somebody may take to log in at the issuer.
const LoginAttemptMaxAge = 15 * time.Minute

// NewLoginAttempt begins a LoginAttempt.
func NewLoginAttempt(returnPath string) LoginAttempt {
	return LoginAttempt{rand.Text(), rand.Text(), oauth2.GenerateVerifier(), returnPath,
		time.Now().Add(LoginAttemptMaxAge)}
}

// LoginURL returns the address at the issuer where a person logs in.
func (l *IssuerLogin) LoginURL(a LoginAttempt) (string, error) {
	provider, _, err := l.discover()
	if err != nil {
		return "", issuerUnavailableError(err)
	}
	return l.config(provider).AuthCodeURL(a.OAuthState, oidc.Nonce(a.Nonce),
		oauth2.S256ChallengeOption(a.PKCEVerifier)), nil
}

func (l *IssuerLogin) config(provider *oidc.Provider) *oauth2.Config {
	scopes := l.client.Scopes
	if len(scopes) == 0 {
		scopes = []string{"email", "profile"}
		var metadata struct {
			Scopes []string `json:"scopes_supported"`
		}
		if err := provider.Claims(&metadata); err == nil && slices.Contains(metadata.Scopes, claimGroups) {
			scopes = append(scopes, claimGroups)
		}
	}
	return &oauth2.Config{
		ClientID: l.client.ID, ClientSecret: l.client.Secret, Endpoint: provider.Endpoint(),
		RedirectURL: l.client.GatewayURL + CallbackPath,
		Scopes:      append([]string{oidc.ScopeOpenID}, scopes...),
	}
}

// Finish returns the person who came back from the issuer with a code.
func (l *IssuerLogin) Finish(ctx context.Context, a LoginAttempt, code string) (*Person, error) {
	provider, _, err := l.discover()
	if err != nil {
		return nil, issuerUnavailableError(err)
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, l.http), 2*issuerTimeout)
	defer cancel()
	tokens, err := l.config(provider).Exchange(ctx, code, oauth2.VerifierOption(a.PKCEVerifier))
	var retrieveErr *oauth2.RetrieveError
	switch {
	case errors.As(err, &retrieveErr) && retrieveErr.ErrorCode != "": // the error's body may contain secrets
		return nil, unauthorized(CodeBadToken, "the issuer refuses the login: "+toPrintable(retrieveErr.ErrorCode))
	case err != nil:
		return nil, &Refusal{http.StatusServiceUnavailable, CodeIssuerUnavailable,
			"the issuer did not say who logged in"}
	}
	rawIDToken, _ := tokens.Extra("id_token").(string)
	token, err := provider.VerifierContext(ctx, &oidc.Config{ClientID: l.client.ID}).Verify(ctx, rawIDToken)
	if err != nil || token.Nonce != a.Nonce {
		return nil, unauthorized(CodeBadToken,
			"the issuer's answer is for another program, or for another login")
	}
	claims, err := checkedClaimsOf(token)
	if err != nil {
		return nil, err
	}
	return l.personOf(l.addUserinfo(ctx, provider, tokens, token.Subject, claims), token)
}

// addUserinfo adds the claims that only the issuer's userinfo endpoint returns. Claims of the signed token take
// precedence.
func (l *IssuerLogin) addUserinfo(ctx context.Context, provider *oidc.Provider, tokens *oauth2.Token, subject string,
	claims Claims) Claims {
	hasNeededEmailVerified := l.issuer.NameClaim != claimEmail || claims[claimEmailVerified] != nil
	if provider.UserInfoEndpoint() == "" || claims[l.issuer.NameClaim] != nil && claims[l.issuer.GroupsClaim] != nil &&
		hasNeededEmailVerified {
		return claims
	}
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil || info.Subject != subject {
		return claims
	}
	mergedClaims := Claims{}
	if err := info.Claims(&mergedClaims); err != nil {
		return claims
	}
	if claims[claimEmail] != nil && claims[claimEmail] != mergedClaims[claimEmail] {
		delete(mergedClaims, claimEmailVerified) // email_verified refers to another address
	}
	maps.Copy(mergedClaims, claims)
	return mergedClaims
}

// LogoutURL returns the address at the issuer where a person logs out there, or "" if the issuer has none.
func (l *IssuerLogin) LogoutURL() string {
	provider, _, err := l.discover()
	if err != nil {
		return ""
	}
	var metadata struct {
		End string `json:"end_session_endpoint"`
	}
	if err := provider.Claims(&metadata); err != nil || metadata.End == "" {
		return ""
	}
	u, err := url.Parse(metadata.End)
	if err != nil || !isSecureURL(u) {
		return ""
	}
	q := u.Query()
	q.Set("client_id", l.client.ID)
	q.Set("post_logout_redirect_uri", l.client.GatewayURL+"/")
	u.RawQuery = q.Encode()
	return u.String()
}
