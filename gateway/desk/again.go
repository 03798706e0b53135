package desk

import (
	"net/http"
	"net/url"
	"time"

	"processidea/gateway/api"
)

// sentForm is a form of the page of a process that was refused, as it was sent.
type sentForm struct {
	ID string // of the form on the page
	url.Values
	Wrong map[string]string // what is wrong, by control; of "" with the whole
}

// Sent is the form of an id as it was sent, if it is the one that was refused.
func (p *processPage) Sent(id string) sentForm {
	if p.Refused.ID == id {
		return p.Refused
	}
	return sentForm{}
}

// showProcessAgain shows the process with a form that was refused: nothing that was typed is lost. wrong says what is
// wrong by control; of "" it is why. An error that is nobody's mistake has a page of its own.
func (v *visit) showProcessAgain(form string, why error, wrong map[string]string) error {
	problem := api.ProblemOf(why)
	if problem.Status >= http.StatusInternalServerError {
		return why
	}
	// The browser cannot ask for this page again, so that it may take longer than others.
	v.Request = v.WithContext(withPatience(v.Context(), time.Now().Add(v.Patience)))
	p, err := v.processPage()
	if err != nil || p.Ended { // which has no forms
		return why
	}
	if wrong == nil {
		wrong = map[string]string{}
	}
	wrong[""] = problem.Detail
	p.Live, p.Refused = false, sentForm{form, v.PostForm, wrong} // a page that looks again by itself would forget them
	return v.render(problem.Status, "process", p)
}
