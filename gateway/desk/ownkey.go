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

// addPasskeyPages adds the pages on which people make passkeys, and sign.
func (d *Desk) addPasskeyPages() {
	d.passkeyPages = &ownkey.Pages{API: d.API, Sessions: d.sessions, DeciderKeys: d.DeciderKeys, Log: d.Log,
		ShowPage:    d.showPasskeyPage,
		ShowOutcome: d.redirectToSignedOutcome}
	adapt := func(handler func(http.ResponseWriter, *http.Request) error) visitHandler {
		return func(v *visit) error { return handler(v.w, v.Request) }
	}
	d.handlePages(access.Decide, map[string]visitHandler{
		"GET /desk/key":   adapt(d.passkeyPages.ShowKey),
		"POST /desk/key":  adapt(d.passkeyPages.RegisterKey),
		"POST /desk/sign": adapt(d.passkeyPages.Sign),
	})
}

func (d *Desk) showPasskeyPage(w http.ResponseWriter, r *http.Request, page, title string, data any) error {
	v := d.newVisit(w, r)
	return v.show(page, struct {
		frame
		D any
	}{v.frame(title), data})
}

func (d *Desk) redirectToSignedOutcome(
	w http.ResponseWriter, r *http.Request, kind, caption, back string, result api.DecisionResult,
) error {
	return d.newVisit(w, r).redirectToOutcomes(outcomes{DecisionKind: kind, BackHref: back,
		Outcomes: outcomesOf([]api.DecisionResult{result}, caption)})
}

// userWithPasskeys returns the caller with their passkeys.
func (v *visit) userWithPasskeys() *access.Person {
	person := *v.user
	person.Passkeys = v.passkeyPages.Passkeys(v.Context(), person.Name)
	return &person
}

// mayDecideByPasskey reports whether a person may decide on a Call by a signature of their own.
func mayDecideByPasskey(person *access.Person, a client.Approval) bool {
	return slices.ContainsFunc(person.Passkeys, func(k *signing.Key) bool {
		return denialReasonAs(person, a, policy.Person{Name: k.People[0], AlternateName: k.PersonName, Groups: k.Groups,
			HasVerifiedProof: true}) == ""
	})
}
