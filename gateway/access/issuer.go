package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"processidea/client"
	"processidea/model/approval/policy"
	"processidea/model/jsonval"
	"processidea/store/signing"
	"processidea/tools/memory"
)

// Issuer is an OpenID Connect issuer whose tokens are trusted, with the claims that the gateway reads.
type Issuer struct {
	URL      string // https, or http on this machine alone
	Audience string // the aud claim that tokens must have
	// NameClaim is the claim with the person's name in policies, and Groups the claim with their groups; empty: email
	// and groups.
	NameClaim, GroupsClaim string
	// AllowsUnverifiedEmail accepts an email without email_verified. An email that the issuer calls unverified never
	// counts.
	AllowsUnverifiedEmail bool
	Roles                 *Roles
	// DecisionSigningKey signs decisions for the people that it may speak for; nil: decisions are declared, not signed.
	DecisionSigningKey *signing.PrivateKey
}

// The names of claims. email and groups are the defaults of Issuer.Name and Issuer.Groups.
const (
	claimEmail         = "email"
	claimEmailVerified = "email_verified"
	claimGroups        = "groups"
)

const (
	issuerTimeout        = 10 * time.Second // the timeout of one request to the issuer
	issuerRetryInterval  = 5 * time.Second  // how long after a failure the issuer is asked again
	maxIssuerAnswerBytes = 1 << 20          // the size of one answer of the issuer
	maxGroupsPerPerson   = 1000             // groups of one person
)

// IssuerGuard admits people who send a token of an issuer. It is safe for concurrent use.
type IssuerGuard struct {
	issuer Issuer
	http   *http.Client

	mu               sync.Mutex
	provider         *oidc.Provider // nil: the issuer has not answered yet
	verifier         *oidc.IDTokenVerifier
	lastDiscoveryAt  time.Time
	lastDiscoveryErr error
}

// NewIssuerGuard makes an IssuerGuard. It returns an error if the settings of the issuer are invalid. It does not ask
// the issuer yet.
func NewIssuerGuard(i Issuer) (*IssuerGuard, error) {
	u, err := url.Parse(i.URL)
	switch {
	case err != nil || u.Host == "" || !isSecureURL(u):
		return nil, fmt.Errorf("access: the issuer %q is no https address", i.URL)
	case i.Audience == "":
		return nil, errors.New("access: the audience is missing: set the audience of this gateway's tokens, since " +
			"the issuer makes tokens for many programs")
	case i.Roles == nil:
		return nil, errors.New("access: the file of roles is missing: tokens only say who somebody is; set a file " +
			"of roles that says what they may do")
	}
	if i.NameClaim == "" {
		i.NameClaim = claimEmail
	}
	if i.GroupsClaim == "" {
		i.GroupsClaim = claimGroups
	}
	return &IssuerGuard{issuer: i, http: &http.Client{Timeout: issuerTimeout,
		Transport: &memory.Transport{Next: http.DefaultTransport, MaxBytes: maxIssuerAnswerBytes}}}, nil
}

// Identify reads the bearer token.
func (g *IssuerGuard) Identify(r *http.Request) (*Person, error) {
	token := bearerToken(r)
	if token == "" {
		return nil, unauthorized(CodeNoToken, "a request needs a token of "+g.issuer.URL+
			": Authorization: Bearer TOKEN")
	}
	_, verifier, err := g.discover()
	if err != nil {
		return nil, issuerUnavailableError(err)
	}
	// An error must not contain the token, so the library's text is not passed on.
	idToken, err := verifier.Verify(oidc.ClientContext(r.Context(), g.http), token)
	var expired *oidc.TokenExpiredError
	switch {
	case errors.As(err, &expired):
		return nil, unauthorized(CodeBadToken, "the token has expired")
	case err != nil && strings.Contains(err.Error(), "fetching keys"): // the library has no error type for this
		return nil, issuerUnavailableError(err)
	case err != nil:
		return nil, unauthorized(CodeBadToken, "the token is not valid: want one of "+g.issuer.URL+" for "+
			g.issuer.Audience)
	}
	claims, err := checkedClaimsOf(idToken)
	if err != nil {
		return nil, err
	}
	return g.personOf(claims, idToken)
}

// issuerUnavailableError reports to the caller only that the issuer does not answer. The reason goes to the log, since
// it names addresses of the inner network.
func issuerUnavailableError(err error) error {
	return fmt.Errorf("%w: %w", &Refusal{http.StatusServiceUnavailable, CodeIssuerUnavailable,
		"the issuer of tokens does not answer"}, err)
}

// clockSkew is how far the issuer's clock may be ahead of this machine's.
const clockSkew = time.Minute

// checkedClaimsOf returns the claims of a token whose signature was checked.
func checkedClaimsOf(token *oidc.IDToken) (claims Claims, err error) {
	if err := token.Claims(&claims); err != nil {
		return nil, unauthorized(CodeBadToken, "the token's claims cannot be read")
	}
	// The library checks exp, and nbf only if it fits into its integers.
	for _, claim := range []string{"iat", "nbf"} {
		if at, _ := claims[claim].(float64); at > float64(time.Now().Add(clockSkew).Unix()) {
			return nil, unauthorized(CodeBadToken,
				"the token was issued in the future: its "+claim+" is ahead of this machine's clock")
		}
	}
	return claims, nil
}

// Claims are the claims of a token.
type Claims jsonval.Object

// personOf returns the person with their groups and rights.
func (g *IssuerGuard) personOf(claims Claims, token *oidc.IDToken) (*Person, error) {
	name, _ := claims[g.issuer.NameClaim].(string)
	if strings.TrimSpace(name) == "" || name == wildcard {
		return nil, unauthorized(CodeBadToken, "the token lacks "+g.issuer.NameClaim+
			", which names people here")
	}
	if err := policy.CheckPersonName(name); err != nil {
		return nil, unauthorized(CodeBadToken, "the token's "+g.issuer.NameClaim+": "+err.Error())
	}
	if g.issuer.NameClaim == claimEmail && !g.hasVerifiedEmail(claims) {
		return nil, unauthorized(CodeBadToken,
			"the token does not say that its email is verified (email_verified)")
	}
	groups, ok := jsonval.AsStringList(claims[g.issuer.GroupsClaim])
	if singleGroup, isText := claims[g.issuer.GroupsClaim].(string); isText {
		groups, ok = []string{singleGroup}, true
	}
	if claims[g.issuer.GroupsClaim] != nil && !ok || len(groups) > maxGroupsPerPerson {
		return nil, unauthorized(CodeBadToken, "the token's "+g.issuer.GroupsClaim+" is no list of names")
	}
	// Neither roles nor policies can name such a group, so it gives no right.
	groups = jsonval.Filter(groups, func(group string) bool { return policy.CheckGroupName(group) == nil })
	return g.LoggedInPerson(name, groups, client.Account{Issuer: token.Issuer, Subject: token.Subject})
}

// hasVerifiedEmail reports whether the email may be trusted as the person's name.
func (g *IssuerGuard) hasVerifiedEmail(claims Claims) bool {
	emailVerified, isGiven := claims[claimEmailVerified]
	return emailVerified == true || emailVerified == "true" || !isGiven && g.issuer.AllowsUnverifiedEmail
}

// LoggedInPerson returns the person of an earlier login, with their current rights.
func (g *IssuerGuard) LoggedInPerson(name string, groups []string, account client.Account) (*Person, error) {
	rights, err := g.issuer.Roles.RightsOf(name, groups)
	if err != nil {
		return nil, brokenRolesError(err)
	}
	p := &Person{Name: name, Groups: groups, Account: account, Rights: rights}
	if signer := g.issuer.DecisionSigningKey.SignerFor(name, groups); signer != nil {
		signer.Account = account
		p.Signer = signer
	}
	return p, nil
}

// LogTo sets the log for changes in the state of the file of roles.
func (g *IssuerGuard) LogTo(log *slog.Logger) {
	g.issuer.Roles.mu.Lock()
	defer g.issuer.Roles.mu.Unlock()
	g.issuer.Roles.log = log
}

// CheckReady returns an error if nobody has rights because the file of roles is broken.
func (g *IssuerGuard) CheckReady(context.Context) error {
	if _, err := g.issuer.Roles.currentRoles(); err != nil {
		return brokenRolesError(err)
	}
	return nil
}

// brokenRolesError reports to the caller only that the roles are broken. The reason goes to the log, since it names a
// file of this machine.
func brokenRolesError(err error) error {
	return fmt.Errorf("%w: %w", &Refusal{http.StatusServiceUnavailable, CodeBrokenRoles, rolesBrokenMessage}, err)
}

// discover asks the issuer for its endpoints and the address of its keys, until it has answered once.
func (g *IssuerGuard) discover() (*oidc.Provider, *oidc.IDTokenVerifier, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.verifier != nil {
		return g.provider, g.verifier, nil
	}
	if g.lastDiscoveryErr != nil && time.Since(g.lastDiscoveryAt) < issuerRetryInterval {
		return nil, nil, g.lastDiscoveryErr
	}
	g.lastDiscoveryAt = time.Now()
	ctx, cancel := context.WithTimeout(oidc.ClientContext(context.Background(), g.http), issuerTimeout)
	defer cancel()
	provider, err := oidc.NewProvider(ctx, g.issuer.URL)
	if g.lastDiscoveryErr = err; err != nil {
		return nil, nil, err
	}
	g.provider = provider
	// The library accepts only asymmetric algorithms, and only those that the issuer announces.
	g.verifier = provider.VerifierContext(oidc.ClientContext(context.Background(), g.http),
		&oidc.Config{ClientID: g.issuer.Audience})
	return g.provider, g.verifier, nil
}
