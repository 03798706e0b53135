package policy

import (
	"encoding/json"
	"fmt"
	"slices"

	"processidea/model/jsonval"
)

// Account identifies somebody at an issuer of tokens. It stays when a name changes, and distinguishes people of one
// name at two issuers. The zero Account means that no issuer is known.
type Account struct {
	Issuer  string `json:"iss,omitempty"`
	Subject string `json:"sub,omitempty"`
}

// Identity is a person as records name them: by the name that people are shown, and by the account where it is known.
// In JSON, an Identity without an account is the name alone.
type Identity struct {
	Name string
	Account
}

// IdentitiesNamed returns people that are known by name only.
func IdentitiesNamed(names ...string) (list []Identity) {
	for _, name := range names {
		list = append(list, Identity{Name: name})
	}
	return list
}

// Is reports whether two are the same person. Accounts at different issuers are never one person's. At one issuer,
// either the same subject or the same name suffices, since some issuers give each client another subject for a person.
// Without accounts, only the names are compared.
func (a Identity) Is(b Identity) bool {
	if a.Issuer != "" && b.Issuer != "" {
		switch {
		case a.Issuer != b.Issuer:
			return false
		case a.Subject == b.Subject:
			return true
		}
	}
	return SameName(a.Name, b.Name)
}

// AnySamePerson reports whether two lists have a person in common.
func AnySamePerson(a, b []Identity) bool {
	return slices.ContainsFunc(a, func(identity Identity) bool { return containsPerson(b, identity) })
}

func containsPerson(list []Identity, identity Identity) bool {
	return slices.ContainsFunc(list, identity.Is)
}

// containsSameAccount reports whether a list has the person with the same account.
func containsSameAccount(list []Identity, identity Identity) bool {
	return slices.ContainsFunc(list, func(a Identity) bool { return a.Is(identity) && a.Account == identity.Account })
}

// containsUnnamed reports whether a list has somebody without a name.
func containsUnnamed(list []Identity) bool {
	return slices.ContainsFunc(list, func(identity Identity) bool { return identity.Name == "" })
}

// identityJSON is an Identity with an account.
type identityJSON struct {
	Name string `json:"name"`
	Account
}

// MarshalJSON writes the name alone where there is no account.
func (a Identity) MarshalJSON() ([]byte, error) {
	if a.Account == (Account{}) {
		return json.Marshal(a.Name)
	}
	return json.Marshal(identityJSON(a))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *Identity) UnmarshalJSON(data []byte) error {
	*a = Identity{}
	if err := json.Unmarshal(data, &a.Name); err == nil {
		return nil
	}
	if err := json.Unmarshal(data, (*identityJSON)(a)); err != nil {
		return fmt.Errorf("policy: read who somebody is: %w", err)
	}
	return nil
}

// readIdentities reads a list of an Idea's meta; nil if it is no list.
func readIdentities(v any) (list []Identity) {
	entries := jsonval.AsList(v)
	for _, entry := range entries {
		name, isName := entry.(string)
		identity := Identity{Name: name}
		if m, isObject := entry.(jsonval.Object); isObject {
			identity = Identity{jsonval.AsText(m["name"]), Account{jsonval.AsText(m["iss"]), jsonval.AsText(m["sub"])}}
		} else if !isName {
			return nil
		}
		list = append(list, identity)
	}
	return list
}
