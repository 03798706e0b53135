package desk

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/desk/form"
	"processidea/gateway/desk/planpage"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

func planHref(processID string) string { return "/desk/plans/" + url.PathEscape(processID) }

// planDenialReason is denial for a Plan.
func planDenialReason(person *access.Person, p client.PendingPlan) string {
	return denialReason(person, client.Approval{PendingCall: approval.PendingCall{Deciders: p.Deciders,
		VotesSoFar: p.VotesSoFar, Exclusions: p.Excluded, Remarks: p.DeputyRemarks}})
}

// planRow is a Plan that waits, in the inbox.
type planRow struct {
	client.PendingPlan
	DenialReason string
	ProcessTitle string
}

// fitsPlan is fits for a Plan, which has no deadline.
func (f inboxFilter) fitsPlan(p client.PendingPlan, now time.Time) bool {
	if f.Due != "" {
		return false
	}
	for _, c := range p.Calls { // a Plan fits if one of its Calls does
		call := approval.PendingCall{CallID: c.CallID, Tool: c.WrittenCall.Tool, Params: c.WrittenCall.RawObject(),
			Since: p.Since}
		if f.fits(client.Approval{Process: p.Process, PendingCall: call}, now) {
			return true
		}
	}
	return false
}

type planPage struct {
	frame
	*planpage.Page
	Href                string
	IsDrawn             bool
	PlannedCalls        []client.PlannedCall
	Sum                 string // of the money of all Calls
	HiddenSentenceCount int    // Calls that PlannedCalls leaves out
	// Disagreements has both answers for each instance about which the LLM was asked twice and answered otherwise.
	Disagreements []string
}

// FactsOf describes the parameters of a planned Call.
func (p planPage) FactsOf(c client.PlannedCall) []fact {
	return factsOfFields(client.Approval{Call: c.Call}, noOrigin)
}

// ReasonOf is why a Call was planned; empty: the Plan does not say.
func (p planPage) ReasonOf(c client.PlannedCall) string {
	for _, planned := range p.Plan.Calls {
		if planned.CallID == c.CallID {
			return jsonval.AsText(planned.WrittenCall.RawObject()["_reasoningForCall"])
		}
	}
	return ""
}

// maxShownSentences bounds the Calls of a Plan that its page describes in words.
const maxShownSentences = 100

// planTitle says what a Plan would do: its only step, or else each kind of step, how often, and how much money that is
// if that is known and of one currency.
func planTitle(p client.DescribedPlan, presenter *shown.Presenter) string {
	if len(p.PlannedCalls) == 1 && len(p.CallCountsByTool) == 1 && p.CallCountsByTool[0].CallCount == 1 {
		return p.PlannedCalls[0].Sentence
	}
	amountsByTool := map[string][]*shown.Field{}
	for _, c := range p.PlannedCalls {
		amountsByTool[c.ToolTitle] = append(amountsByTool[c.ToolTitle], c.Amount())
	}
	steps := jsonval.Map(p.CallCountsByTool, func(t approval.PlanToolCount) string {
		title := presenter.ToolTitle(t.Tool)
		text, sum, amounts := title, "", amountsByTool[title]
		if t.CallCount > 1 {
			text = fmt.Sprintf("%d × %s", t.CallCount, title)
		}
		switch {
		case len(amounts) != t.CallCount: // some are not in words
		case t.CallCount > 1:
			sum = shown.SumText(amounts, p.PlannedCalls[0].Language)
		case amounts[0] != nil && amounts[0].Value != nil:
			sum = amounts[0].DisplayText
		}
		if sum != "" {
			text += ", " + sum
		}
		return text
	})
	return strings.Join(steps, "; ")
}

// findWaitingPlan returns the Plan that waits in the process of the address.
func (v *visit) findWaitingPlan() (client.DescribedPlan, error) {
	list, err := v.WaitingPlansIn(v.Context(), v.processID)
	for _, p := range list {
		if p.Process == v.processID {
			return p, err
		}
	}
	if err == nil {
		err = notFound("No Plan of %s waits: somebody has decided on it, its process is over, or there "+
			"is none.", visibleText(v.processID))
	}
	return client.DescribedPlan{}, err
}

func (v *visit) newPlanPage(plan client.DescribedPlan) planPage {
	l := client.LanguageOf(v.Context())
	labels := v.planLabels(plan.Process)
	p := planPage{frame: v.processFrame(""),
		Page: planpage.New(plan, v.tools(v.Context(), plan.Process), labels, l,
			func(t *ideafile.Tool) form.Form { return replaceForm(t, l) }),
		Href: planHref(plan.Process), IsDrawn: len(plan.Calls) <= maxDrawnCalls}
	p.Title = clipName(planTitle(plan, labels.Presenter)) // data may have a %s of its own
	p.DenialReason = planDenialReason(v.user, plan.PlanView)
	p.Disagreements = jsonval.Map(plan.Disagreements, func(text string) string {
		return disagreementText(text, labels,
			l)
	})
	p.addPlannedCalls(plan)
	return p
}

// addPlannedCalls adds what a Plan would do, and how much money that is together.
func (p *planPage) addPlannedCalls(plan client.DescribedPlan) {
	for _, one := range plan.CallCountsByTool {
		p.HiddenSentenceCount += one.CallCount
	}
	if p.HiddenSentenceCount == len(plan.PlannedCalls) && p.HiddenSentenceCount > 0 {
		amounts := jsonval.Map(plan.PlannedCalls, func(c client.PlannedCall) *shown.Field { return c.Amount() })
		amounts = slices.DeleteFunc(amounts, func(f *shown.Field) bool { return f == nil })
		p.Sum = shown.SumText(amounts, plan.PlannedCalls[0].Language)
	}
	p.PlannedCalls = plan.PlannedCalls[:min(len(plan.PlannedCalls), maxShownSentences)]
	p.HiddenSentenceCount -= len(p.PlannedCalls)
}

func (v *visit) showPlan() error {
	plan, err := v.findWaitingPlan()
	if err != nil {
		return err
	}
	return v.show("plan", v.newPlanPage(plan))
}

// drawWaitingPlan draws the Plan that waits.
func (v *visit) drawWaitingPlan() error {
	plan, err := v.findWaitingPlan()
	if err != nil {
		return err
	}
	return v.writePlanSVG(plan.Process, plan.DiagramCalls[:min(len(plan.DiagramCalls), maxDrawnCalls)], nil)
}

// decidePlan handles a decision on the Plan of the address, or shows the form again while somebody changes the Calls.
func (v *visit) decidePlan() error {
	plan, err := v.findWaitingPlan()
	var refusal *access.Refusal
	if err != nil && !errors.As(err, &refusal) {
		return err
	}
	backFrom := v.PostForm.Get(backField)
	decision := client.PlanDecision{Kind: cmp.Or(backFrom, v.PostForm.Get("decision")),
		PlanDigest: v.PostForm.Get("digest"), Reason: v.formValue("reason")}
	p := planPage{}
	if err == nil {
		p = v.newPlanPage(plan)
		p.Reason, p.FormErrorDecision, p.HasChanged = decision.Reason, decision.Kind, plan.Digest != decision.PlanDigest
		if p.HasChanged || !p.ReadDecision(&decision, v.PostForm) || backFrom != "" {
			status := http.StatusUnprocessableEntity
			if p.HasChanged {
				status = http.StatusConflict
			} else if p.FormError == "" {
				status = http.StatusOK // the form only asks for the page, or for a change of it
			}
			return v.render(status, "plan", p)
		}
		if v.PostForm.Get("sure") == "" {
			if look := v.planAsDecided(p, decision); look.needsSecondLook(decision) {
				return v.show("sure", v.newPlanConfirmPage(look, decision))
			}
		}
	}
	decisionOutcome, err := v.DecidePlan(v.Context(), v.processID, decision)
	if err != nil {
		return v.showPlanRefused(p, err)
	}
	return v.redirectToOutcomes(outcomes{DecisionKind: decision.Kind, Plan: &decisionOutcome})
}

// maxUnconfirmedSteps is how many steps without money a person approves without a second look.
const maxUnconfirmedSteps = 10

// planAsDecided is the page of the Plan that would run: the waiting one, or what somebody has made of it.
func (v *visit) planAsDecided(p planPage, decision client.PlanDecision) planPage {
	if decision.Kind != client.Amend {
		return p
	}
	return v.newPlanPage(client.DescribeAmended(p.Plan.PlanView, decision.Calls,
		v.latestIdea(v.Context(), p.Plan.Process), v.planLabels(p.Plan.Process).Presenter,
		client.LanguageOf(v.Context())))
}

// needsSecondLook reports whether a decision has many steps happen, or several with money, or steps that somebody has
// changed, without a person being asked again. p is the page of what would run.
func (p planPage) needsSecondLook(decision client.PlanDecision) bool {
	if decision.Kind == client.Reject {
		return false
	}
	isAskedAgain := map[string]bool{}
	for _, later := range p.Plan.LaterApprovals {
		isAskedAgain[later.CallID] = later.Certainty == client.AskedAlways
	}
	stepCount, hasMoney := p.HiddenSentenceCount, false
	for _, c := range p.PlannedCalls {
		if isAskedAgain[c.CallID] {
			continue
		}
		stepCount++
		hasMoney = hasMoney || c.Amount() != nil
	}
	return stepCount > 1 && hasMoney || stepCount > maxUnconfirmedSteps ||
		stepCount > 0 && decision.Kind == client.Amend
}

// newPlanConfirmPage sends all that was entered once more. p is the page of what would run.
func (v *visit) newPlanConfirmPage(p planPage, decision client.PlanDecision) confirmPage {
	confirm := confirmPage{frame: v.frame("Approve this Plan?"), Kind: decision.Kind, Reason: decision.Reason,
		BackHref: p.Href, IsAboutPlan: true, FormAction: p.Href, Fields: maps.Clone(v.PostForm)}
	confirm.Fields.Del("decision")
	confirm.Count, confirm.Sum = p.HiddenSentenceCount+len(p.PlannedCalls), p.Sum
	confirm.addCaptions(jsonval.Map(p.PlannedCalls, func(c client.PlannedCall) string {
		return describeCase(client.Approval{Call: c.Call})
	}), confirm.Count)
	confirm.IsIrreversible = slices.ContainsFunc(p.Plan.CallCountsByTool, func(t approval.PlanToolCount) bool {
		return v.isIrreversible(ideafile.FindTool(p.Tools, t.Tool))
	})
	return confirm
}

// showPlanRefused shows why a decision was not taken: the Plan that waits now, or the errors beside the Calls.
func (v *visit) showPlanRefused(p planPage, err error) error {
	problem := api.ProblemOf(err)
	for _, pendingPlan := range problem.Plans {
		if pendingPlan.Process == v.processID {
			p = v.newPlanPage(pendingPlan)
			p.HasChanged = true
			return v.render(http.StatusConflict, "plan", p)
		}
	}
	if p.Page == nil || problem.Status >= http.StatusInternalServerError || problem.Code == api.CodePlanChanged {
		return err
	}
	p.FormError = detailOf(err)
	p.ShowProblems(problem.Problems)
	return v.render(problem.Status, "plan", p)
}
