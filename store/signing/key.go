package signing

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/jsonval"
	"processidea/store/signing/passkey"
)

// Key is a public key that may speak for people.
type Key struct {
	ID          string // kid
	Thumbprint  string // RFC 7638, SHA-256, base64url
	Issuer      string
	People      []string
	Groups      []string
	PersonName  string
	WithdrawnAt time.Time     // zero if it was not withdrawn
	Passkey     *passkey.Site // where a passkey is used; nil for any other key

	publicKey any
	algorithm jose.SignatureAlgorithm
}

// anybody, in the people or groups of a key, lets it speak for everybody.
const anybody = "*"

const (
	minRSABits = 2048
	maxRSABits = 8192
)

// readPublicKey reads an entry of a JWKS.
func readPublicKey(v any) (*Key, error) {
	m, ok := v.(jsonval.Object)
	if !ok {
		return nil, fmt.Errorf("a key is an object, not %s", jsonval.TypeOf(v))
	}
	k := &Key{}
	jwk, err := readJWK(m)
	if err == nil && !jwk.IsPublic() {
		err = errors.New(
			"it is a private key: whoever has read it can sign with it. Withdraw it, and list only public keys")
	}
	if err == nil {
		err = k.setPublicKey(jwk)
	}
	if err == nil {
		err = k.readMembers(m)
	}
	return k, err
}

func readJWK(m jsonval.Object) (jwk jose.JSONWebKey, err error) {
	if m["kty"] == "oct" {
		return jwk, errors.New("it is a shared secret: whoever can check with it can sign with it")
	}
	if err := jwk.UnmarshalJSON(jsonval.Encode(m)); err != nil {
		return jwk, errors.New(strings.TrimPrefix(err.Error(), "go-jose/go-jose: "))
	}
	switch {
	case !jwk.Valid():
		return jwk, errors.New("it is no key")
	case jwk.KeyID == "":
		return jwk, errors.New(`it has no "kid"`)
	case jwk.Use != "" && jwk.Use != "sig":
		return jwk, fmt.Errorf(`its "use" is %q: it is not for signatures`, jwk.Use)
	}
	return jwk, nil
}

// setPublicKey sets the public key, and the one algorithm that belongs to its kind.
func (k *Key) setPublicKey(jwk jose.JSONWebKey) error {
	k.ID, k.publicKey = jwk.KeyID, jwk.Key
	switch public := jwk.Key.(type) {
	case ed25519.PublicKey:
		k.algorithm = jose.EdDSA
	case *ecdsa.PublicKey:
		if public.Curve != elliptic.P256() {
			return fmt.Errorf("its curve is %s; want P-256", public.Params().Name)
		}
		k.algorithm = jose.ES256
	case *rsa.PublicKey:
		if bits := public.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return fmt.Errorf("it has %d bits; an RSA key has %d to %d", bits, minRSABits, maxRSABits)
		}
		k.algorithm = jose.RS256
	default:
		return errors.New("it is none of Ed25519, P-256 and RSA")
	}
	if jwk.Algorithm != "" && jwk.Algorithm != string(k.algorithm) {
		return fmt.Errorf(`its "alg" is %q; want %s`, jwk.Algorithm, k.algorithm)
	}
	sum, err := jwk.Thumbprint(crypto.SHA256)
	k.Thumbprint = base64.RawURLEncoding.EncodeToString(sum)
	return err
}

// readMembers reads whom the key may speak for.
func (k *Key) readMembers(m jsonval.Object) (err error) {
	k.Issuer = jsonval.AsText(m["iss"])
	if strings.TrimSpace(k.Issuer) == "" {
		return errors.New(`it does not say "iss", the issuer that its proofs name`)
	}
	if k.People, err = readNames(m, "people", policy.CheckPersonName); err != nil {
		return err
	}
	if len(k.People) == 0 {
		return errors.New(`it does not say "people", for whom it may speak (["*"]: anybody)`)
	}
	if k.Groups, err = readNames(m, "groups", policy.CheckGroupName); err != nil {
		return err
	}
	name, isText := m["name"].(string)
	if m["name"] != nil && (!isText || len(k.People) != 1 || k.People[0] == anybody) {
		return errors.New(`"name" must be a text, only on a key of one person`)
	}
	if name != "" {
		if err := policy.CheckPersonName(name); err != nil {
			return fmt.Errorf(`"name": %w`, err)
		}
	}
	k.PersonName = name
	if err := k.readPasskey(m); err != nil {
		return err
	}
	if m["withdrawn"] == nil {
		return nil
	}
	text := jsonval.AsText(m["withdrawn"])
	if k.WithdrawnAt, err = time.Parse(time.RFC3339, text); err != nil {
		return errors.New(`"withdrawn" must be a time such as 2026-11-23T12:00:00Z`)
	}
	return nil
}

func readNames(m jsonval.Object, jwkMember string, checkName func(string) error) ([]string, error) {
	list, ok := jsonval.AsStringList(m[jwkMember])
	if m[jwkMember] != nil && !ok {
		return nil, fmt.Errorf("%q must be a list of names", jwkMember)
	}
	for _, name := range list {
		if err := checkName(name); err != nil {
			return nil, fmt.Errorf("%q: %w", jwkMember, err)
		}
	}
	return list, nil
}

// denialReason returns why the key may not speak for the person of a proof, or as its issuer; "" if it may.
func (k *Key) denialReason(c proof.Claims) string {
	allowsAnyPerson := slices.Contains(k.People, anybody)
	switch {
	case c.Issuer != k.Issuer:
		return fmt.Sprintf("the key %s is not one of the issuer %s", k.ID, c.Issuer)
	case !allowsAnyPerson && !containsName(k.People, c.Subject):
		return fmt.Sprintf("the key %s may not speak for %s", k.ID, c.Subject)
	case !allowsAnyPerson && c.Name != "" && c.Name != k.PersonName && !policy.SameName(c.Name, c.Subject):
		return fmt.Sprintf("the key %s may not call %s %s", k.ID, c.Subject, c.Name)
	}
	if !allowsAnyPerson && c.SubjectID != (proof.SubjectID{}) {
		return fmt.Sprintf("the key %s may not say which account %s has: only a key that may speak for anybody may",
			k.ID, c.Subject)
	}
	for _, group := range c.Groups {
		if !slices.Contains(k.Groups, anybody) && !containsName(k.Groups, group) {
			return fmt.Sprintf("the key %s may not say that %s is of %s", k.ID, c.Subject, group)
		}
	}
	return ""
}

func containsName(list []string, name string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return policy.SameName(other, name) })
}
