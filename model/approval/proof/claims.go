package proof

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/jsonval"
)

// MaxProofLength bounds a proof, in bytes of the compact JWS.
const MaxProofLength = 16_000

// MaxClaimTextLength bounds any text of Claims but names, in characters; Temporal's ids have at most as many.
const MaxClaimTextLength = 1000

const (
	maxNameLength = 200 // characters of a name
	maxGroups     = 100
)

// Claims are the payload of a proof.
type Claims struct {
	// Issuer names the authority that the key speaks for; a person's own key is its own issuer.
	Issuer string `json:"iss"`
	// Subject is who decides, by the name that policies use. Name is another name of the person; empty: the same.
	Subject string `json:"sub"`
	Name    string `json:"name,omitempty"`
	// SubjectID is zero if the proof contains no account.
	SubjectID SubjectID `json:"sub_id,omitzero"`
	Groups    []string  `json:"groups,omitempty"`
	// IssuedAt and Expires are seconds since 1970; Expires 0: never.
	IssuedAt  int64 `json:"iat"`
	ExpiresAt int64 `json:"exp,omitempty"`
	// ID is the id of the proof.
	ID string `json:"jti"`
	// ProcessID, CallID, ApprovalDigest and DecisionKind identify the decision: the ids, in either spelling, the digest
	// of what was shown, and approve, reject, amend, replace or answer.
	ProcessID      string `json:"process"`
	CallID         string `json:"call"`
	ApprovalDigest string `json:"digest"`
	DecisionKind   string `json:"decision"`
	// DetailsDigest is the digest of the rest of the decision: see DetailsDigest.
	DetailsDigest string `json:"details"`
}

// SubjectID is the deciding person's account at an issuer of tokens, in the form of RFC 9493. Only a key that may speak
// for anybody may name an account: with a key of one's own, a person could pose as any number of people.
type SubjectID struct {
	Format string `json:"format"`
	policy.Account
}

const issuerSubjectFormat = "iss_sub" // a Format

// SubjectIDOf returns an account in the form of RFC 9493.
func SubjectIDOf(a policy.Account) SubjectID {
	if a == (policy.Account{}) {
		return SubjectID{}
	}
	return SubjectID{issuerSubjectFormat, a}
}

// ReadClaims reads the payload of a proof. Unknown keys are ignored, as RFC 7519 requires.
func ReadClaims(payload []byte) (Claims, error) {
	m, err := jsonval.DecodeObject(payload)
	if err != nil {
		return Claims{}, fmt.Errorf("the payload of the proof: %w", err)
	}
	var c Claims
	fieldByKey := map[string]*string{
		"iss": &c.Issuer, "jti": &c.ID, "process": &c.ProcessID, "call": &c.CallID, "digest": &c.ApprovalDigest,
		"decision": &c.DecisionKind, "details": &c.DetailsDigest,
	}
	for k := range jsonval.Sorted(fieldByKey) {
		if *fieldByKey[k], err = readText(m, k, MaxClaimTextLength); err != nil {
			return Claims{}, err
		}
	}
	if c.Subject, err = readText(m, "sub", maxNameLength); err == nil && m["name"] != nil {
		c.Name, err = readText(m, "name", maxNameLength)
	}
	if err != nil {
		return Claims{}, err
	}
	if c.SubjectID, err = readSubjectID(m["sub_id"]); err != nil {
		return Claims{}, err
	}
	if c.Groups, err = readGroups(m["groups"]); err == nil {
		c.IssuedAt, err = readUnixSeconds(m, "iat")
	}
	if err == nil && m["exp"] != nil {
		c.ExpiresAt, err = readUnixSeconds(m, "exp")
	}
	if err == nil && m["nbf"] != nil {
		err = errors.New(`the proof has "nbf", which is not allowed: a decision counts from when it is taken`)
	}
	return c, err
}

func readText(m jsonval.Object, key string, maxLength int) (string, error) {
	s, ok := m[key].(string)
	switch {
	case m[key] == nil:
		return "", fmt.Errorf("the proof does not say %q", key)
	case !ok || strings.TrimSpace(s) == "":
		return "", fmt.Errorf("%q of the proof is no text, or an empty one", key)
	case len([]rune(s)) > maxLength:
		return "", fmt.Errorf("%q of the proof is longer than %d characters", key, maxLength)
	}
	return s, nil
}

// readSubjectID reads an account; other formats are ignored.
func readSubjectID(v any) (id SubjectID, err error) {
	m, isObject := v.(jsonval.Object)
	if !isObject || m["format"] != issuerSubjectFormat {
		return SubjectID{}, nil
	}
	id.Format = issuerSubjectFormat
	if id.Issuer, err = readText(m, "iss", MaxClaimTextLength); err == nil {
		id.Subject, err = readText(m, "sub", MaxClaimTextLength)
	}
	if err != nil {
		return SubjectID{}, fmt.Errorf(`"sub_id": %w`, err)
	}
	return id, nil
}

func readGroups(v any) ([]string, error) {
	groups, ok := jsonval.AsStringList(v)
	if (!ok && v != nil) || len(groups) > maxGroups {
		return nil, fmt.Errorf(`"groups" of the proof is no list of at most %d names`, maxGroups)
	}
	for _, g := range groups {
		if strings.TrimSpace(g) == "" || len([]rune(g)) > maxNameLength {
			return nil, fmt.Errorf(`a name in "groups" of the proof is empty, or longer than %d characters`,
				maxNameLength)
		}
	}
	return groups, nil
}

// maxUnixSeconds bounds times, so that arithmetic on them is safe. It is in the year 5138.
const maxUnixSeconds = 100_000_000_000

func readUnixSeconds(m jsonval.Object, key string) (int64, error) {
	number, _ := m[key].(json.Number)
	n, err := number.Int64()
	if err != nil || n <= 0 || n >= maxUnixSeconds {
		return 0, fmt.Errorf("%q of the proof is no whole number of seconds since 1970", key)
	}
	return n, nil
}

// Encode gives the payload's canonical bytes.
func (c Claims) Encode() []byte { return jsonval.Encode(jsonval.ToJSONValue(c)) }

func (c Claims) issuedAt() time.Time  { return time.Unix(c.IssuedAt, 0).UTC() }
func (c Claims) expiresAt() time.Time { return time.Unix(c.ExpiresAt, 0).UTC() }
