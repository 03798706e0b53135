package signing

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"processidea/model/approval/proof"
	"processidea/model/jsonval"
)

// PrivateKeyVariable is the environment variable that names the file of a person's own key.
const PrivateKeyVariable = "PROCESSIDEA_KEY"

// PrivateKey signs proofs.
type PrivateKey struct {
	Key // its public half, and whom it may speak for

	secret     jose.JSONWebKey
	jwkMembers jsonval.Object // the JWK, with the private members
}

// NewPersonKey makes an Ed25519 key for one person, who is its own issuer. Its kid is its thumbprint.
func NewPersonKey(person string, groups []string) (*PrivateKey, error) {
	public, secret, err := ed25519.GenerateKey(rand.Reader)
	k := &Key{}
	if err == nil {
		err = k.setPublicKey(jose.JSONWebKey{Key: public})
	}
	var m jsonval.Object
	if err == nil {
		m, err = jwkMembers(jose.JSONWebKey{Key: secret, KeyID: k.Thumbprint, Algorithm: string(jose.EdDSA),
			Use: "sig"})
	}
	if err != nil {
		return nil, fmt.Errorf("signing: make a key: %w", err)
	}
	setPerson(m, person, groups)
	return readPrivateKey(m)
}

// jwkMembers returns the members of a key's JWK.
func jwkMembers(jwk jose.JSONWebKey) (jsonval.Object, error) {
	data, err := jwk.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return jsonval.DecodeObject(data)
}

// setPerson restricts a key to one person, who is its own issuer.
func setPerson(members jsonval.Object, person string, groups []string) {
	members["iss"], members["people"] = person, []any{person}
	if len(groups) > 0 {
		members["groups"] = jsonval.ToJSONValue(groups)
	}
}

// ParsePrivateKey reads a private JWK with the members of its public half: iss, people, groups.
func ParsePrivateKey(data []byte) (*PrivateKey, error) {
	m, err := jsonval.DecodeObject(data)
	if err != nil {
		return nil, fmt.Errorf("signing: read a key: %w", err)
	}
	return readPrivateKey(m)
}

// LoadPrivateKey reads a private key from a file. Only the owner may have access to the file.
func LoadPrivateKey(file string) (*PrivateKey, error) {
	info, err := os.Stat(file)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("others may read it (%o): chmod 600 %s", info.Mode().Perm(), file)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("signing: read key %s: %w", file, withoutPath(err))
	}
	k, err := ParsePrivateKey(data)
	if err != nil {
		return nil, fmt.Errorf("signing: read key %s: %w", file, errors.Unwrap(err))
	}
	return k, nil
}

func withoutPath(err error) error {
	if path, isPathError := errors.AsType[*os.PathError](err); isPathError {
		return path.Err
	}
	return err
}

func readPrivateKey(m jsonval.Object) (*PrivateKey, error) {
	secret, err := readJWK(m)
	if err == nil && secret.IsPublic() {
		err = errors.New("it is a public key, which checks and cannot sign")
	}
	k := &PrivateKey{secret: secret, jwkMembers: m}
	if err == nil {
		err = k.setPublicKey(secret.Public())
	}
	if err == nil {
		err = k.readMembers(m)
	}
	if err != nil {
		return nil, fmt.Errorf("signing: read a key: %w", err)
	}
	return k, nil
}

// Encode returns the JSON of the private key, for a file that only its owner may read.
func (k *PrivateKey) Encode() []byte { return append(jsonval.Encode(k.jwkMembers), '\n') }

// PublicJWK returns the JWKS entry of the public half, on one line.
func (k *PrivateKey) PublicJWK() ([]byte, error) {
	public, err := jwkMembers(k.secret.Public())
	if err != nil {
		return nil, fmt.Errorf("signing: encode a key: %w", err)
	}
	maps.Copy(public, jsonval.WithOnlyKeys(k.jwkMembers, "iss", "people", "groups", "name", "withdrawn"))
	return jsonval.Encode(public), nil
}

// Person returns the only person for whom the key speaks; "" if the key may speak for several.
func (k *PrivateKey) Person() string {
	if len(k.People) == 1 && k.People[0] != anybody {
		return k.People[0]
	}
	return ""
}

// Sign signs Claims. If they name no Issuer, the key's is used; the same holds for Subject and Groups if the key speaks
// for one person.
func (k *PrivateKey) Sign(c proof.Claims) (string, error) {
	if c.Issuer == "" {
		c.Issuer = k.Issuer
	}
	if c.Subject == "" {
		c.Subject = k.Person()
	}
	if c.Groups == nil && k.Person() != "" && !slices.Contains(k.Groups, anybody) {
		c.Groups = k.Groups
	}
	if reason := k.denialReason(c); reason != "" {
		return "", fmt.Errorf("signing: sign a decision: %s", reason)
	}
	if _, err := proof.ReadClaims(c.Encode()); err != nil {
		return "", fmt.Errorf("signing: sign a decision: %w", err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.algorithm, Key: k.secret.Key},
		(&jose.SignerOptions{}).WithHeader(jose.HeaderKey("kid"), k.ID).WithType("JWT"))
	if err != nil {
		return "", fmt.Errorf("signing: sign a decision: %s", strings.TrimPrefix(err.Error(), "go-jose/go-jose: "))
	}
	jws, err := signer.Sign(c.Encode())
	if err != nil {
		return "", fmt.Errorf("signing: sign a decision: %w", err)
	}
	return jws.CompactSerialize()
}
