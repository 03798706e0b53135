package access

import (
	"context"
	"slices"

	"processidea/client"
	"processidea/store/signing"
)

// Right is something that a person may do.
type Right string

// The rights. A person without any of them may only read the description of the API.
const (
	Look   Right = "look"   // at processes, at what waits in them, and at their Ideas
	Start  Right = "start"  // processes, and forks
	Decide Right = "decide" // on Calls that wait
	Steer  Right = "steer"  // pause, resume, revise, add, cancel, undo
)

// AllRights lists all of them.
var AllRights = []Right{Look, Start, Decide, Steer}

// Person is who sent a request.
type Person struct {
	Name   string
	Groups []string
	// Account is the person's account at the issuer of tokens; zero: none.
	Account client.Account
	Rights  []Right
	// MayDecideAsOthers means that the person may name another decider, as at a terminal without authentication.
	MayDecideAsOthers bool
	// Signer signs the person's decisions; nil: they are declared.
	Signer client.Signer
	// Passkeys are the person's own keys, with which they may sign at the desk themselves.
	Passkeys []*signing.Key
}

// May reports whether the person has a right.
func (p *Person) May(r Right) bool { return p != nil && slices.Contains(p.Rights, r) }

type personKey struct{}

// WithPerson gives a context that carries the person.
func WithPerson(ctx context.Context, p *Person) context.Context {
	return client.WithAccount(context.WithValue(ctx, personKey{}, p), p.Account)
}

// PersonFrom returns the person of a request, or a person without a name and rights if nobody has been identified.
func PersonFrom(ctx context.Context) *Person {
	if p, ok := ctx.Value(personKey{}).(*Person); ok {
		return p
	}
	return &Person{}
}
