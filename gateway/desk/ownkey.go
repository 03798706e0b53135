package desk

import (
	"net/http"
	"slices"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/desk/ownkey"
	"processidea/model/approval/policy"
	"processidea/store/signing"
)

// addOwnKey adds the pages on which people make passkeys, and sign.
func (d *Desk) addOwnKey() {
	d.ownKeys = &ownkey.Pages{API: d.API, Sessions: d.sessions, Deciders: d.Deciders, Log: d.Log,
		Show: d.showOwnKeyPage,
		Tell: d.redirectToSignedOutcome}
	own := func(do func(http.ResponseWriter, *http.Request) error) act {
		return func(v *visit) error { return do(v.w, v.Request) }
	}
	d.add(access.Decide, map[string]act{
		"GET /desk/key":   own(d.ownKeys.ShowKey),
		"POST /desk/key":  own(d.ownKeys.MakeKey),
		"POST /desk/sign": own(d.ownKeys.Sign),
	})
}

func (d *Desk) showOwnKeyPage(w http.ResponseWriter, r *http.Request, page, title string, data any) error {
	v := d.visit(w, r)
	return v.show(page, struct {
		frame
		D any
	}{v.frame(title), data})
}

func (d *Desk) redirectToSignedOutcome(
	w http.ResponseWriter, r *http.Request, kind, about string, result api.DecisionResult,
) error {
	return d.visit(w, r).redirectToOutcomes(outcomes{Kind: kind, List: outcomesOf([]api.DecisionResult{result}, about)})
}

// decider returns the caller with their passkeys.
func (v *visit) decider() *access.Person {
	who := *v.who
	who.Passkeys = v.ownKeys.Passkeys(v.Context(), who.Name)
	return &who
}

// mayByPasskey reports whether a person may decide on a Call by a signature of their own.
func mayByPasskey(who *access.Person, a client.Approval) bool {
	return slices.ContainsFunc(who.Passkeys, func(k *signing.Key) bool {
		return denialAs(who, a, policy.Person{Name: k.People[0], AlsoNamed: k.Name, Groups: k.Groups,
			Signed: true}) == ""
	})
}
