package ownkey

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/model/jsonval"
	"processidea/store/signing"
	"processidea/store/signing/passkey"
)

// KeyPage shows a person's passkeys, and lets the person make one.
type KeyPage struct {
	Keys              []*signing.Key
	UnknownKeysReason string // why this gateway does not know which keys are valid; empty: it does
	UnavailableReason string // why browsers make no passkey here; empty: they do
	Host              string
	Options           string // the browser's options for making one, as JSON
	SealedState       string
	Entry             string // of the passkey that was made
}

// pendingRegistration is a passkey that a browser was asked to make.
type pendingRegistration struct {
	User      string    `json:"w"`
	Challenge string    `json:"c"`
	ExpiresAt time.Time `json:"u"`
}

const (
	registerSealPurpose = "passkey"
	registerMaxAge      = 15 * time.Minute
)

// ShowKey shows the page of the person's own key.
func (p *Pages) ShowKey(w http.ResponseWriter, r *http.Request) error {
	page, err := p.keyPage(r)
	if err != nil {
		return err
	}
	return p.ShowPage(w, r, "key", "Your key", page)
}

func (p *Pages) keyPage(r *http.Request) (page KeyPage, err error) {
	person := access.PersonFrom(r.Context())
	page = KeyPage{Keys: p.Passkeys(r.Context(), person.Name), UnknownKeysReason: p.unknownKeysReason(r.Context()),
		Host: r.Host}
	var site *passkey.Site
	if site, page.UnavailableReason = passkeySiteFor(r.Host); site == nil {
		return page, nil
	}
	pending := pendingRegistration{person.Name, newChallenge(), time.Now().Add(registerMaxAge)}
	if page.SealedState, err = p.Sessions.Seal(registerSealPurpose, pending); err == nil {
		page.Options = passkeyCreationOptions(person.Name, pending.Challenge, site, page.Keys)
	}
	return page, err
}

// passkeySiteFor returns the Use of a passkey that is made at a host; nil and the reason if browsers make none there.
// Only browsers know whether they came by https.
func passkeySiteFor(host string) (site *passkey.Site, unavailableReason string) {
	site, err := passkey.SiteAt("https://" + strings.ToLower(host))
	if err != nil {
		return nil, err.Error()
	}
	return site, ""
}

// unknownKeysReason says why the gateway does not know the valid keys; "" if it does.
func (p *Pages) unknownKeysReason(ctx context.Context) string {
	if p.DeciderKeys == nil {
		return "PROCESSIDEA_DECIDERS is not set for it"
	}
	if _, err := p.deciderKeys(ctx); err != nil {
		return "the list of them cannot be read"
	}
	return ""
}

func newChallenge() string {
	data := make([]byte, 32)
	_, _ = rand.Read(data) // it never fails
	return base64.RawURLEncoding.EncodeToString(data)
}

// passkeyCreationOptions returns the options for a browser to make a passkey. A device keeps one passkey per person: a
// new one replaces it, unless it is listed.
func passkeyCreationOptions(personName, challenge string, site *passkey.Site, existingKeys []*signing.Key) string {
	userID := sha256.Sum256([]byte("process idea\n" + personName))
	var keyTypes []any
	for _, a := range passkey.COSEAlgorithms {
		keyTypes = append(keyTypes, jsonval.Object{"type": "public-key", "alg": a})
	}
	return jsonval.EncodeToString(jsonval.ToJSONValue(jsonval.Object{
		"challenge": challenge, "rp": jsonval.Object{"id": site.RPID, "name": "Process Idea"},
		"user": jsonval.Object{"id": base64.RawURLEncoding.EncodeToString(userID[:]), "name": personName,
			"displayName": personName},
		"pubKeyCredParams": keyTypes, "excludeCredentials": credentials(existingKeys), "attestation": "none",
		"timeout":                browserTimeoutMillis,
		"authenticatorSelection": jsonval.Object{"residentKey": "preferred", "userVerification": "required"},
	}))
}

// RegisterKey accepts the passkey that the browser made, and shows its entry for the list of keys.
func (p *Pages) RegisterKey(w http.ResponseWriter, r *http.Request) error {
	person := access.PersonFrom(r.Context())
	var pending pendingRegistration
	if !p.Sessions.Unseal(registerSealPurpose, r.PostForm.Get("sealed"), &pending) || pending.User != person.Name ||
		time.Now().After(pending.ExpiresAt) {
		return api.Unprocessable("This took too long, or somebody else began it. Open the page of your key again.")
	}
	if r.PostForm.Get("answer") == "" {
		return api.Unprocessable(scriptNeededMessage)
	}
	site, err := passkey.SiteAt(r.Header.Get("Origin"))
	if err != nil {
		return api.Unprocessable("%s", err)
	}
	newPasskey, err := site.VerifyRegistration([]byte(r.PostForm.Get("answer")), pending.Challenge)
	if err != nil {
		return api.Unprocessable("%s", err)
	}
	entry, err := signing.PasskeyJWK(newPasskey, site, person.Name, person.Groups)
	if err != nil {
		return err
	}
	page, err := p.keyPage(r)
	if err != nil {
		return err
	}
	page.Entry = string(entry)
	return p.ShowPage(w, r, "key", "Your passkey is made", page)
}

const scriptNeededMessage = "The browser sent no passkey. Passkeys need a script, which is switched off or did not run."
