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
	pickValues := v.PostForm["pick"]
	if v.PostForm.Get("all") != "" {
		pickValues = v.PostForm["shown"]
	}
	if v.PostForm.Get(backField) != "" {
		return v.showInboxAgain(nil, pickValues)
	}
	var formErr error
	switch {
	case kind != client.Approve && kind != client.Reject:
		formErr = api.Unprocessable("Many cases at once can only be approved or rejected: open one to change it.")
	case len(pickValues) == 0:
		formErr = api.Unprocessable("No case was selected. Tick the boxes of those that you mean.")
	case len(pickValues) > client.MaxDecisionsPerSignal:
		formErr = api.Unprocessable("You can decide on at most %d cases at once.", client.MaxDecisionsPerSignal)
	case kind == client.Reject && reason == "":
		formErr = api.Unprocessable(planpage.ReasonMissingText)
	}
	if formErr != nil {
		return v.showInboxAgain(formErr, pickValues)
	}
	var decisions []api.Decision
	var captions []string
	for _, text := range pickValues {
		var pickParts []string
		if json.Unmarshal([]byte(text), &pickParts) != nil || len(pickParts) != 4 {
			return api.Unprocessable("One of the boxes cannot be read. Open the inbox again.")
		}
		captions = append(captions, pickParts[3])
		decisions = append(decisions, api.Decision{ProcessID: pickParts[0],
			Decision: client.Decision{CallID: pickParts[1], ApprovalDigest: pickParts[2], Kind: kind, Reason: reason}})
	}
	if len(decisions) > 1 && v.PostForm.Get("sure") == "" {
		return v.show("sure", v.newConfirmPage(decisions, pickValues, captions))
	}
	approvals := v.approvalsOf(decisions) // decided ones are no longer listed
	o := outcomes{DecisionKind: kind, BackHref: v.PostForm.Get("back"),
		Outcomes: outcomesOf(v.Decide(v.Context(), decisions), captions...)}
	o.addAmounts(approvals, client.LanguageOf(v.Context()))
	return v.redirectToOutcomes(o)
}

// approvalsOf returns the waiting Call of each decision; it is zero if the Call has changed, or does not wait.
func (v *visit) approvalsOf(decisions []api.Decision) []client.Approval {
	approvalByDecision := map[[3]string]client.Approval{}
	if waitingItems, err := v.AllWaitingForPeople(v.Context()); err == nil {
		for _, a := range waitingItems.Approvals {
			approvalByDecision[[3]string{a.Process, a.CallID, a.Digest}] = a
		}
	}
	return jsonval.Map(decisions, func(d api.Decision) client.Approval {
		return approvalByDecision[[3]string{d.ProcessID, d.CallID, d.ApprovalDigest}]
	})
}

// backField is the button that leads back from a confirmPage: it shows the page again with all that was entered.
const backField = "again"

// confirmPage asks for confirmation before one decision is applied to many Calls, or to a Plan. It shows the Calls and
// the sum of their money.
type confirmPage struct {
	frame
	Kind, Reason, BackHref string
	IsAboutPlan            bool
	FormAction             string
	Fields                 url.Values // of the form, as they were sent
	Count                  int        // cases, or steps of the Plan
	Captions               []string
	HiddenCaseCount        int    // cases or steps that Captions leaves out
	Sum                    string // empty: it is not known, or there is none
	IsIrreversible         bool   // nothing takes some of them back
}

func (v *visit) newConfirmPage(decisions []api.Decision, pickValues, captions []string) confirmPage {
	title := "Approve these cases?"
	if decisions[0].Kind == client.Reject {
		title = "Reject these cases?"
	}
	p := confirmPage{frame: v.frame(title), Kind: decisions[0].Kind, Reason: decisions[0].Reason,
		BackHref: deskPathOrRoot(v.PostForm.Get("back")), FormAction: "/desk/decide", Count: len(pickValues)}
	p.Fields = url.Values{"pick": pickValues, "shown": v.PostForm["shown"], "back": {p.BackHref}, "reason": {p.Reason}}
	p.addCaptions(captions, len(captions))
	approvals := v.approvalsOf(decisions)
	amounts := jsonval.Map(approvals, func(a client.Approval) *shown.Field { return a.Amount() })
	p.Sum, p.IsIrreversible = shown.SumText(amounts, client.LanguageOf(v.Context())), v.anyIrreversible(approvals)
	return p
}

// addCaptions lists what is decided on, of totalCount.
func (p *confirmPage) addCaptions(captions []string, totalCount int) {
	const maxListed = 100
	p.Captions = captions[:min(len(captions), maxListed)]
	p.HiddenCaseCount = totalCount - len(p.Captions)
}

// outcomes are the outcomes of decisions on Calls, or of one accepted decision on a Plan.
type outcomes struct {
	DecisionKind string                      `json:"k"`
	BackHref     string                      `json:"b"`
	DeciderName  string                      `json:"w"`
	Outcomes     []outcome                   `json:"l"`
	Plan         *client.PlanDecisionOutcome `json:"p,omitempty"`
	AcceptedSum  string                      `json:"s,omitempty"` // of the amounts that the decision was accepted on
}

// outcome is the outcome of a decision on one Call. Caption says what the Call does, and for whom; it is empty if the
// deciding page did not say so.
type outcome struct {
	api.DecisionResult
	Caption string `json:"a,omitempty"`
	Amount  string `json:"m,omitempty"` // empty: the Call has none, or it is not known
}

func (o outcome) isAboutCall(a client.Approval) bool {
	return o.Process == a.Process && o.Call == a.CallID
}

func outcomesOf(results []api.DecisionResult, captions ...string) (list []outcome) {
	for n, result := range results {
		list = append(list, outcome{DecisionResult: result, Caption: captions[n]})
	}
	return list
}

// addAmounts adds the money of the Calls, and its sum over those on which the decision was accepted.
func (o *outcomes) addAmounts(approvals []client.Approval, l shown.Language) {
	var acceptedAmounts []*shown.Field
	for n := range o.Outcomes {
		amount := approvals[n].Amount()
		if amount != nil {
			o.Outcomes[n].Amount = clip(amount.DisplayText, maxAmountChars)
		}
		if o.Outcomes[n].Outcome == api.OutcomeAccepted {
			acceptedAmounts = append(acceptedAmounts, amount)
		}
	}
	o.AcceptedSum = shown.SumText(acceptedAmounts, l)
}

const maxAmountChars = 80

const outcomeSealPurpose = "outcome"

// maxOutcomeQueryChars bounds the outcomes in an address, in characters, since servers on the way limit its length.
const maxOutcomeQueryChars = 6000

// redirectToOutcomes redirects to a page with the outcomes of decisions. The address carries them, sealed, since a
// gateway keeps nothing. If they do not fit, they are shown directly; sending that form again changes nothing, since
// each Call is decided once.
func (v *visit) redirectToOutcomes(o outcomes) error {
	o.DeciderName = v.user.Name
	text, err := v.sessions.Seal(outcomeSealPurpose, o)
	if err != nil {
		return err
	}
	if len(text) > maxOutcomeQueryChars {
		return v.renderOutcome(o)
	}
	return v.redirect("/desk/outcome?o=" + url.QueryEscape(text))
}

func (v *visit) showOutcome() error {
	var o outcomes
	if !v.sessions.Unseal(outcomeSealPurpose, v.FormValue("o"), &o) || o.DeciderName != v.user.Name {
		return notFound("This address contains no outcome of a decision.")
	}
	return v.renderOutcome(o)
}

type outcomePage struct {
	frame
	PastTense, BackHref        string
	AcceptedCount, FailedCount int
	AcceptedSum                string // of the money; empty: there is none, or one amount
	HasAmounts                 bool
	Outcomes                   []outcome // decisions that were not accepted come first
	Plan                       *client.PlanDecisionOutcome
	PlanProcessTitle           string
	// the page of a Call that waits again, because its policy asks about the changed Call
	WaitingCallHref  string
	Next             *nextCase
	ProcessTitleByID map[string]string // of the processes in Outcomes, by id
}

// waitingCallHref returns the page of a Call that waits again although it was decided, or "" if it does not wait.
func (v *visit) waitingCallHref(result api.DecisionResult) string {
	if result.Votes != nil && result.Votes.Have < result.Votes.Want {
		return ""
	}
	list, err := v.ApprovalsIn(v.Context(), result.Process)
	if err == nil && slices.ContainsFunc(list, func(a client.Approval) bool { return a.CallID == result.Call }) {
		return callHref(result.Process, result.Call)
	}
	return ""
}

var pastTenseByDecisionKind = map[string]string{
	client.Approve: "approved", client.Reject: "rejected", client.Amend: "changed", client.Replace: "replaced",
	client.Answer: "answered", client.Comment: "said", client.Ask: "asked", client.HandOver: "handed over",
	approval.SteerDeputy: "given a deputy", approval.SteerApprovePlan: "approved", approval.SteerAmendPlan: "changed",
	approval.SteerRejectPlan: "rejected",
}

// textByDecisionKind are the words of pastTenseByDecisionKind that say too little of a decision where it stands alone.
var textByDecisionKind = map[string]string{client.Amend: "approved with changes",
	client.Replace: "something else chosen instead", client.Answer: "result given"}

func (v *visit) renderOutcome(o outcomes) error {
	p := outcomePage{frame: v.frame("Result"), PastTense: pastTenseByDecisionKind[o.DecisionKind],
		BackHref: deskPathOrRoot(o.BackHref), AcceptedSum: o.AcceptedSum,
		Plan: o.Plan}
	p.HasAmounts = slices.ContainsFunc(o.Outcomes, func(one outcome) bool { return one.Amount != "" })
	p.Next = v.findNextCase(p.BackHref, o.Outcomes...)
	if o.Plan != nil {
		p.PlanProcessTitle = v.processTitleNow(o.Plan.ProcessID)
		return v.show("planoutcome", p)
	}
	var acceptedOutcomes []outcome
	for _, one := range o.Outcomes {
		if one.Outcome == api.OutcomeAccepted {
			acceptedOutcomes = append(acceptedOutcomes, one)
		} else {
			p.Outcomes = append(p.Outcomes, one)
		}
	}
	p.ProcessTitleByID = map[string]string{}
	for _, one := range o.Outcomes {
		if p.ProcessTitleByID[one.Process] == "" {
			p.ProcessTitleByID[one.Process] = processTitle(one.Process, v.processTitleNow(one.Process))
		}
	}
	p.AcceptedCount, p.FailedCount = len(acceptedOutcomes), len(p.Outcomes)
	p.Outcomes = append(p.Outcomes, acceptedOutcomes...)
	if len(o.Outcomes) == 1 && p.AcceptedCount == 1 {
		p.WaitingCallHref = v.waitingCallHref(o.Outcomes[0].DecisionResult)
	}
	return v.show("outcome", p)
}

// resultText describes the outcome of a decision.
func resultText(result api.DecisionResult, pastTense string) string {
	switch {
	case result.Outcome == api.OutcomeAccepted && result.Votes != nil && result.Votes.Have < result.Votes.Want:
		return fmt.Sprintf("Your decision counts: %d of %d people have decided so. It waits for the others.",
			result.Votes.Have, result.Votes.Want)
	case result.Outcome == api.OutcomeAccepted:
		return "It is " + pastTense + "."
	case result.Outcome == api.OutcomeFailed:
		return "Its outcome is unknown: " + result.Reason
	case result.Outcome == api.OutcomeInvalid:
		return "It was not sent: " + result.Reason
	}
	return "It was refused: " + result.Reason
}
