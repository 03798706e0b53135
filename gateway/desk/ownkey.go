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
	d.own = &ownkey.Pages{API: d.API, Sessions: d.sessions, Deciders: d.Deciders, Log: d.Log, Show: d.showOwn,
		Tell: d.tellOwn}
	d.mux.HandleFunc("GET /desk/key", d.page(access.Decide, d.own.ShowKey))
	d.mux.HandleFunc("POST /desk/key", d.page(access.Decide, d.own.MakeKey))
	d.mux.HandleFunc("POST /desk/sign", d.page(access.Decide, d.own.Sign))
}

func (d *Desk) showOwn(w http.ResponseWriter, r *http.Request, status int, page, title string, data any) {
	d.render(w, r, status, page, struct {
		frame
		D any
	}{d.frame(r, title), data})
}

func (d *Desk) tellOwn(w http.ResponseWriter, r *http.Request, kind string, became api.DecisionResult) error {
	return d.tell(w, r, outcomes{Kind: kind, Back: "/", Who: nameOf(r), List: []api.DecisionResult{became}})
}

// decider is the caller, with their passkeys.
func (d *Desk) decider(r *http.Request) *access.Person {
	who := *access.From(r.Context())
	who.Passkeys = d.own.Passkeys(r.Context(), who.Name)
	return &who
}

// mayByPasskey reports whether a person may decide on a Call by a signature of their own.
func mayByPasskey(who *access.Person, a client.Approval) bool {
	return slices.ContainsFunc(who.Passkeys, func(k *signing.Key) bool {
		return denialAs(who, a, policy.Person{Name: k.People[0], AlsoNamed: k.Name, Groups: k.Groups,
			Signed: true}) == ""
	})
}
