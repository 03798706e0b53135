package signing

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/jsonval"
	"processidea/store/signing/passkey"
)

// readPasskey reads the Use of a key that is a passkey.
func (k *Key) readPasskey(m jsonval.Object) (err error) {
	if m["passkey"] == nil {
		return nil
	}
	if len(k.People) != 1 || k.People[0] == anybody || slices.Contains(k.Groups, anybody) {
		return errors.New("a passkey speaks for one person: name that one, and the groups one by one")
	}
	k.Passkey, err = passkey.ParseSite(m["passkey"])
	return err
}

// verifiedPasskeyPayload is open for a proof that a passkey signed.
func (k *Key) verifiedPasskeyPayload(h header) (payload []byte, err error) {
	switch {
	case k.Passkey == nil:
		return nil, fmt.Errorf("the proof says that a passkey signed it, but the key %s is not a passkey", k.ID)
	case string(h.parts[0]) != string(passkey.ProofHeader(h.algorithm, h.keyID)):
		return nil, fmt.Errorf("the key %s is a passkey, but the proof's header is not one of a passkey",
			k.ID)
	}
	if err := k.Passkey.Verify(k.publicKey, h.parts[1], h.parts[2]); err != nil {
		return nil, fmt.Errorf("the passkey %s: %w", k.ID, err)
	}
	return h.parts[1], nil
}

// Algorithm returns the key's signature algorithm, as JWS names it.
func (k *Key) Algorithm() string { return string(k.algorithm) }

// Passkeys lists the passkeys of a person that are valid at a time, in the order of the JWKS.
func (k *Keys) Passkeys(person string, validAt time.Time) (validKeys []*Key) {
	if k == nil {
		return nil
	}
	for _, key := range k.keysInFileOrder {
		if key.Passkey != nil && policy.SameName(key.People[0], person) &&
			(key.WithdrawnAt.IsZero() || validAt.Before(key.WithdrawnAt)) {
			validKeys = append(validKeys, key)
		}
	}
	return validKeys
}

// WithOwnerClaims returns the Claims that a person's own key makes: for that person, with all groups that the key may
// assert.
func (k *Key) WithOwnerClaims(c proof.Claims) proof.Claims {
	c.Issuer, c.Subject, c.Name, c.Groups = k.Issuer, k.People[0], k.PersonName, k.Groups
	return c
}

// PasskeyJWK returns the JWKS entry of a passkey, on one line. The person is its issuer.
func PasskeyJWK(registration passkey.Registration, site *passkey.Site, person string,
	groups []string) ([]byte, error) {
	k := &Key{}
	jwk := jose.JSONWebKey{Key: registration.PublicKey, KeyID: registration.ID, Use: "sig"}
	err := k.setPublicKey(jwk)
	var m jsonval.Object
	if err == nil {
		jwk.Algorithm = k.Algorithm()
		m, err = jwkMembers(jwk)
	}
	if err == nil {
		setPerson(m, person, groups)
		m["passkey"] = jsonval.ToJSONValue(site)
		_, err = readPublicKey(m)
	}
	if err != nil {
		return nil, fmt.Errorf("signing: list a passkey: %w", err)
	}
	return jsonval.Encode(m), nil
}
