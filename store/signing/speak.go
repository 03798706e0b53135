package signing

import (
	"slices"

	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
)

// NewIssuerKey makes an Ed25519 key that may speak for any person and group. It is for a program that authenticates
// people, such as the gateway.
func NewIssuerKey(issuer string) (*PrivateKey, error) {
	k, err := NewPersonKey(issuer, nil)
	if err != nil {
		return nil, err
	}
	k.jwkMembers["people"], k.jwkMembers["groups"] = []any{anybody}, []any{anybody}
	return readPrivateKey(k.jwkMembers)
}

// PersonSigner signs for one person with a key that may speak for several.
type PersonSigner struct {
	key    *PrivateKey
	person string
	groups []string
	// Account is the person's account, if an issuer of tokens identified them.
	Account policy.Account
}

// SignerFor returns a signer for a person, limited to the groups that the key may assert; nil if the key may not speak
// for the person.
func (k *PrivateKey) SignerFor(person string, groups []string) *PersonSigner {
	isAllowed := func(list []string, name string) bool {
		return slices.Contains(list, anybody) || containsName(list, name)
	}
	if k == nil || person == "" || !isAllowed(k.People, person) {
		return nil
	}
	s := &PersonSigner{key: k, person: person, groups: []string{}}
	for _, g := range groups {
		if isAllowed(k.Groups, g) {
			s.groups = append(s.groups, g)
		}
	}
	return s
}

// Sign signs Claims with the person as their subject.
func (s *PersonSigner) Sign(c proof.Claims) (string, error) {
	c.Subject, c.Groups = s.person, s.groups
	if slices.Contains(s.key.People, anybody) {
		c.SubjectID = proof.SubjectIDOf(s.Account)
	}
	return s.key.Sign(c)
}
