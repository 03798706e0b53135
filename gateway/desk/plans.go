package desk

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/gateway/api"
	"processidea/gateway/desk/form"
	"processidea/gateway/desk/planpage"
	"processidea/model/approval"
	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
)

func planHref(process string) string { return "/desk/plans/" + url.PathEscape(process) }

// planDenial is denial for a Plan.
func planDenial(who *access.Person, p client.PendingPlan) string {
	return denial(who, client.Approval{Pending: approval.Pending{Deciders: p.Deciders, DecidedSoFar: p.DecidedSoFar,
		Remarks: p.Deputies}})
}

// planRow is a Plan that waits, in the inbox.
type planRow struct {
	client.PendingPlan
	Denied string
}

// fitsPlan is fits for a Plan, which no deadline decides on.
func (f filter) fitsPlan(p client.PendingPlan, now time.Time) bool {
	if f.Due != "" {
		return false
	}
	for _, c := range p.Calls { // one of its Calls fits, or the Plan itself
		as := approval.Pending{CallID: c.CallID, Tool: c.Written.Tool, Params: c.Written.RawObject(), Since: p.Since}
		if f.fits(client.Approval{Process: p.Process, Pending: as}, now) {
			return true
		}
	}
	return false
}

type planPage struct {
	frame
	*planpage.Page
	Href  string
	Drawn bool
}

// findPlan gives the Plan that waits in the process of the address.
func (d *Desk) findPlan(r *http.Request) (client.Plan, error) {
	id := r.PathValue("process")
	list, err := d.API.PlansOf(r.Context(), id)
	for _, p := range list {
		if p.Process == id {
			return p, err
		}
	}
	if err == nil {
		err = gone("No Plan of %s waits: somebody has decided on it, or there is none.",
			visible(id))
	}
	return client.Plan{}, err
}

func (d *Desk) planPage(r *http.Request, plan client.Plan) planPage {
	forms := func(t *ideafile.Tool) form.Form { return replaceForm(t) }
	p := planPage{frame: d.frame(r, strings.ToUpper(plan.Name()[:1])+plan.Name()[1:]),
		Page: planpage.New(plan, d.tools(r.Context(), plan.Process), forms),
		Href: planHref(plan.Process), Drawn: len(plan.Calls) <= mostDrawn}
	p.Denied = planDenial(access.From(r.Context()), plan.PlanView)
	return p
}

func (d *Desk) showPlan(w http.ResponseWriter, r *http.Request) error {
	plan, err := d.findPlan(r)
	if err != nil {
		return err
	}
	return d.show(w, r, "plan", d.planPage(r, plan))
}

// drawWaiting gives the Plan that waits as a picture.
func (d *Desk) drawWaiting(w http.ResponseWriter, r *http.Request) error {
	plan, err := d.findPlan(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", mediaTypes[".svg"])
	_, _ = w.Write([]byte(plangraph.RenderSVG(plan.Drawn[:min(len(plan.Drawn), mostDrawn)], nil)))
	return nil
}

// decidePlan takes a decision on the Plan of the address, or shows its Calls as somebody is changing them.
func (d *Desk) decidePlan(w http.ResponseWriter, r *http.Request) error {
	plan, err := d.findPlan(r)
	var gone *access.Refusal
	if err != nil && !errors.As(err, &gone) {
		return err
	}
	said := client.PlanDecision{Kind: r.PostForm.Get("decision"), Digest: r.PostForm.Get("digest"),
		Reason: entered(r, "reason")}
	p := planPage{}
	if err == nil {
		p = d.planPage(r, plan)
		p.Reason, p.WrongIn, p.Changed = said.Reason, said.Kind, plan.Digest != said.Digest
		if p.Changed || !p.Take(&said, r.PostForm) {
			status := http.StatusUnprocessableEntity
			if p.Changed {
				status = http.StatusConflict
			} else if p.Wrong == "" {
				status = http.StatusOK // it asks for another form
			}
			d.render(w, r, status, "plan", p)
			return nil
		}
	}
	done, err := d.API.DecidePlan(r.Context(), r.PathValue("process"), said)
	if err != nil {
		return d.planRefused(w, r, p, err)
	}
	text, err := d.sessions.Seal(planOutcomeUse, planOutcome{said.Kind, done, nameOf(r)})
	if err == nil {
		http.Redirect(w, r, "/desk/plan-outcome?o="+url.QueryEscape(text), http.StatusSeeOther)
	}
	return err
}

// planRefused shows why a decision was not taken: the Plan that waits now, or the errors beside the Calls.
func (d *Desk) planRefused(w http.ResponseWriter, r *http.Request, p planPage, err error) error {
	problem := api.ProblemOf(err)
	for _, now := range problem.Plans {
		if now.Process == r.PathValue("process") {
			p = d.planPage(r, now)
			p.Changed = true
			d.render(w, r, http.StatusConflict, "plan", p)
			return nil
		}
	}
	var refused *client.RefusedError
	if p.Page == nil || problem.Status >= http.StatusInternalServerError || problem.Code == api.CodeChanged {
		return err
	}
	if p.Wrong = problem.Detail; errors.As(err, &refused) {
		p.Wrong = refused.Reason
	}
	found := map[string]string{}
	for _, at := range problem.Problems {
		found[at.Path] = at.Message
	}
	p.Find(found)
	d.render(w, r, problem.Status, "plan", p)
	return nil
}

const planOutcomeUse = "plan-outcome"

// planOutcome is a decision on a Plan that was taken.
type planOutcome struct {
	Kind string          `json:"k"`
	Done api.PlanDecided `json:"d"`
	Who  string          `json:"w"`
}

func (d *Desk) showPlanOutcome(w http.ResponseWriter, r *http.Request) error {
	var o planOutcome
	if !d.sessions.Unseal(planOutcomeUse, r.URL.Query().Get("o"), &o) || o.Who != nameOf(r) {
		return gone("This address contains no outcome of a decision.")
	}
	return d.show(w, r, "planoutcome", struct {
		frame
		Outcome planOutcome
	}{d.frame(r, "What became of it"), o})
}
