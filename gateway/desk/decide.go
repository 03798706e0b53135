package desk

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"processidea/client"
	"processidea/gateway/api"
	"processidea/gateway/desk/planpage"
	"processidea/model/approval"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// decideMany takes one decision on each Call that was selected.
func (v *visit) decideMany() error {
	kind, reason := v.PostForm.Get("decision"), v.formValue("reason")
	boxes := v.PostForm["pick"]
	if v.PostForm.Get("all") != "" {
		boxes = v.PostForm["shown"]
	}
	var wrong error
	switch {
	case kind != client.Approve && kind != client.Reject:
		wrong = api.Unprocessable("Many cases at once can only be approved or rejected: open one to change it.")
	case len(boxes) == 0:
		wrong = api.Unprocessable("No case was selected. Tick the boxes of those that you mean.")
	case len(boxes) > client.MaxDecisionsPerSignal:
		wrong = api.Unprocessable("You can decide on at most %d cases at once.", client.MaxDecisionsPerSignal)
	case kind == client.Reject && reason == "":
		wrong = api.Unprocessable(planpage.NeedsReason)
	}
	if wrong != nil {
		return v.showInboxAgain(wrong, boxes)
	}
	var list []api.Decision
	var about []string
	for _, text := range boxes {
		var pick []string
		if json.Unmarshal([]byte(text), &pick) != nil || len(pick) != 4 {
			return api.Unprocessable("One of the boxes cannot be read. Open the inbox again.")
		}
		about = append(about, pick[3])
		list = append(list, api.Decision{Process: pick[0],
			Decision: client.Decision{Call: pick[1], Digest: pick[2], Kind: kind, Reason: reason}})
	}
	if len(list) > 1 && v.PostForm.Get("sure") == "" {
		return v.show("sure", v.surePage(list, boxes, about))
	}
	return v.redirectToOutcomes(outcomes{
		Kind: kind, Back: v.PostForm.Get("back"), List: outcomesOf(v.Decide(v.Context(), list), about...),
	})
}

// confirmPage asks for confirmation before one decision is applied to many Calls. It shows the Calls and the sum of
// their money.
type confirmPage struct {
	frame
	Kind, Reason, Back string
	Boxes, About       []string
	More               int    // cases that About leaves out
	Sum                string // empty: it is not known, or there is none
}

func (v *visit) surePage(list []api.Decision, boxes, about []string) confirmPage {
	const maxNamed = 100
	named := min(len(about), maxNamed)
	p := confirmPage{frame: v.frame("Is this what you mean?"), Kind: list[0].Kind, Reason: list[0].Reason,
		Back: pageAt(v.PostForm.Get("back")), Boxes: boxes, About: about[:named], More: len(about) - named}
	all, err := v.AllWaiting(v.Context())
	if err != nil {
		return p
	}
	amounts := map[[2]string]*shown.Field{}
	for _, a := range all.Approvals {
		amounts[[2]string{a.Process, a.CallID}] = a.Amount()
	}
	decided := jsonval.Map(list, func(d api.Decision) *shown.Field { return amounts[[2]string{d.Process, d.Call}] })
	p.Sum = shown.SumOf(decided, client.LanguageOf(v.Context()))
	return p
}

// outcomes are the outcomes of decisions on Calls, or of one accepted decision on a Plan.
type outcomes struct {
	Kind string              `json:"k"`
	Back string              `json:"b"`
	Who  string              `json:"w"`
	List []outcome           `json:"l"`
	Plan *client.PlanDecided `json:"p,omitempty"`
}

// outcome is the outcome of a decision on one Call. About says what the Call does, and for whom; it is empty if the
// deciding page did not say so.
type outcome struct {
	api.DecisionResult
	About string `json:"a,omitempty"`
}

func outcomesOf(results []api.DecisionResult, about ...string) (list []outcome) {
	for n, one := range results {
		list = append(list, outcome{one, about[n]})
	}
	return list
}

const outcomeUse = "outcome"

// longestQuery bounds the outcomes in an address, in characters, since servers on the way limit its length.
const longestQuery = 6000

// redirectToOutcomes redirects to a page with the outcomes of decisions. The address carries them, sealed, since a
// gateway keeps nothing. If they do not fit, they are shown directly; sending that form again changes nothing, since
// each Call is decided once.
func (v *visit) redirectToOutcomes(o outcomes) error {
	o.Who = v.who.Name
	text, err := v.sessions.Seal(outcomeUse, o)
	if err != nil {
		return err
	}
	if len(text) > longestQuery {
		return v.renderOutcome(o)
	}
	return v.redirect("/desk/outcome?o=" + url.QueryEscape(text))
}

func (v *visit) showOutcome() error {
	var o outcomes
	if !v.sessions.Unseal(outcomeUse, v.FormValue("o"), &o) || o.Who != v.who.Name {
		return notFound("This address contains no outcome of a decision.")
	}
	return v.renderOutcome(o)
}

type outcomePage struct {
	frame
	Kind, Back       string
	Accepted, Failed int
	List             []outcome // decisions that were not accepted come first
	Plan             *client.PlanDecided
	WaitsAgain       string // the page of a Call that waits again, because its policy asks about the changed Call
}

// pendingCallHref returns the page of a Call that waits again although it was decided, or "" if it does not wait.
func (v *visit) pendingCallHref(one api.DecisionResult) string {
	if one.Count != nil && one.Count.Have < one.Count.Want {
		return ""
	}
	list, err := v.WaitingIn(v.Context(), one.Process)
	if err == nil && slices.ContainsFunc(list, func(a client.Approval) bool { return a.CallID == one.Call }) {
		return callHref(one.Process, one.Call)
	}
	return ""
}

var pastTense = map[string]string{
	client.Approve: "approved", client.Reject: "rejected", client.Amend: "changed", client.Replace: "replaced",
	client.Answer: "answered", client.Comment: "said", client.Ask: "asked", client.HandOver: "handed over",
	approval.SteerDeputy: "given a deputy", approval.SteerApprovePlan: "approved", approval.SteerAmendPlan: "changed",
	approval.SteerRejectPlan: "rejected",
}

func (v *visit) renderOutcome(o outcomes) error {
	p := outcomePage{frame: v.frame("What became of it"), Kind: pastTense[o.Kind], Back: pageAt(o.Back), Plan: o.Plan}
	if o.Plan != nil {
		return v.show("planoutcome", p)
	}
	var accepted []outcome
	for _, one := range o.List {
		if one.Outcome == api.OutcomeAccepted {
			accepted = append(accepted, one)
		} else {
			p.List = append(p.List, one)
		}
	}
	p.Accepted, p.Failed = len(accepted), len(p.List)
	p.List = append(p.List, accepted...)
	if len(o.List) == 1 && p.Accepted == 1 {
		p.WaitsAgain = v.pendingCallHref(o.List[0].DecisionResult)
	}
	return v.show("outcome", p)
}

// inWords describes the outcome of a decision.
func inWords(one api.DecisionResult, done string) string {
	switch {
	case one.Outcome == api.OutcomeAccepted && one.Count != nil && one.Count.Have < one.Count.Want:
		return fmt.Sprintf("Your decision counts: %d of %d people have decided so. It waits for the others.",
			one.Count.Have, one.Count.Want)
	case one.Outcome == api.OutcomeAccepted:
		return "It is " + done + "."
	case one.Outcome == api.OutcomeFailed:
		return "Its outcome is unknown: " + one.Reason
	case one.Outcome == api.OutcomeInvalid:
		return "It was not sent: " + one.Reason
	}
	return "It was refused: " + one.Reason
}
