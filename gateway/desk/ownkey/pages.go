package ownkey

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"processidea/gateway/api"
	"processidea/gateway/desk/session"
	"processidea/store/signing"
)

// Pages are the pages on which people make passkeys, and sign.
type Pages struct {
	API         *api.API
	Sessions    *session.Sessions
	DeciderKeys *signing.KeySource // the keys that the workers trust; nil: they are not known here
	Log         *slog.Logger
	// ShowPage shows a page by the name of its template, and Tell shows what became of a decision.
	ShowPage    func(w http.ResponseWriter, r *http.Request, page, title string, data any) error
	ShowOutcome func(w http.ResponseWriter, r *http.Request, kind, about, back string, became api.DecisionResult) error
}

// Passkeys lists the valid passkeys of a person; none if the keys cannot be read.
func (p *Pages) Passkeys(ctx context.Context, personName string) []*signing.Key {
	keys, err := p.deciderKeys(ctx)
	if err != nil {
		p.Log.Warn("nobody can sign with a passkey: the keys of those who decide cannot be read", "error", err)
	}
	return keys.Passkeys(personName, time.Now())
}

func (p *Pages) deciderKeys(ctx context.Context) (*signing.Keys, error) {
	if p.DeciderKeys == nil {
		return nil, nil
	}
	return p.DeciderKeys.Keys(ctx)
}

// usablePasskeys returns the passkeys of a person that browsers use on pages of an origin. All of them sign the same
// challenge, so keys are left out if their data on the person differ from those of the last one.
func (p *Pages) usablePasskeys(ctx context.Context, personName, origin string) ([]*signing.Key, error) {
	allPasskeys := p.Passkeys(ctx, personName)
	var usableKeys []*signing.Key
	var otherOrigins []string
	for _, k := range slices.Backward(allPasskeys) {
		switch {
		case !slices.Contains(k.Passkey.Origins, origin):
			otherOrigins = append(otherOrigins, k.Passkey.Origins...)
		case len(usableKeys) == 0 || k.Issuer == usableKeys[0].Issuer && k.PersonName == usableKeys[0].PersonName &&
			slices.Equal(k.Groups, usableKeys[0].Groups):
			usableKeys = append(usableKeys, k)
		}
	}
	switch {
	case len(usableKeys) > 0:
		return usableKeys, nil
	case len(otherOrigins) > 0:
		return nil, api.Unprocessable("Your passkeys are for the desk at %s, and this is %s.",
			strings.Join(otherOrigins, ", "), origin)
	}
	return nil, api.Unprocessable(
		"You have no valid passkey. Make one, and have it added to the keys of those who decide.")
}

// credential names a passkey to a browser.
type credential struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

func credentials(keys []*signing.Key) []credential {
	list := []credential{}
	for _, k := range keys {
		list = append(list, credential{"public-key", k.ID})
	}
	return list
}

// browserTimeoutMillis is how long a browser waits for a person, in milliseconds.
const browserTimeoutMillis = 5 * 60 * 1000
