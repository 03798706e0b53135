package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"

	"processidea/client"
)

// Guard identifies who sent a request. Its error is a *Refusal or wraps one.
type Guard interface {
	Identify(r *http.Request) (*Person, error)
}

// CheckReady returns an error if the guard can admit nobody.
func CheckReady(ctx context.Context, g Guard) error {
	if g, ok := g.(interface{ CheckReady(context.Context) error }); ok {
		return g.CheckReady(ctx)
	}
	return nil
}

// minSecretLength is in characters. rand.Text returns 26, of 5 bits each.
const minSecretLength = 24

// NewToken makes a random token.
func NewToken() string { return rand.Text() }

// TokenGuard admits every caller with its one token, all as the same person. It is for the loopback, where the token
// belongs to the user.
type TokenGuard struct {
	digest [sha256.Size]byte
	person Person
}

// NewTokenGuard makes a TokenGuard for a person. It returns an error if the token is short enough to be guessed.
func NewTokenGuard(token string, p Person) (*TokenGuard, error) {
	if len(token) < minSecretLength {
		return nil, errors.New("access: the gateway's token has fewer than 24 characters")
	}
	p.Rights, p.MayDecideAsOthers = AllRights, true
	return &TokenGuard{sha256.Sum256([]byte(token)), p}, nil
}

// Identify reads the token from the header Authorization, or else from the query parameter token: a page that follows
// events cannot set the header.
func (g *TokenGuard) Identify(r *http.Request) (*Person, error) {
	token := bearerToken(r)
	if token == "" {
		token = r.URL.Query().Get("token")
	}
	if token == "" {
		return nil, unauthorized(CodeNoToken, "a request needs a token: Authorization: Bearer TOKEN")
	}
	digest := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(digest[:], g.digest[:]) != 1 {
		return nil, unauthorized(CodeBadToken, "the token is not this gateway's")
	}
	return g.LoggedInPerson(g.person.Name, nil, client.Account{})
}

// LoggedInPerson returns the token's one person, whatever name they had at login.
func (g *TokenGuard) LoggedInPerson(string, []string, client.Account) (*Person, error) {
	p := g.person
	return &p, nil
}

// SessionSecret returns the secret of sessions. Only those who have the token know it, and a new token changes it.
func (g *TokenGuard) SessionSecret() []byte { return g.digest[:] }

// bearerToken returns the token of the header; "" if there is none.
func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
