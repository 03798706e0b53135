package desk

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"processidea/client"
	"processidea/gateway/api"
)

// submittedForm is a refused form of a process's page, with the values that were sent.
type submittedForm struct {
	ID string // of the form on the page
	url.Values
	FieldErrors map[string]string // what is wrong, by control; under "": with the form as a whole
}

// SubmittedForm returns the refused form if it has this id, or else an empty one.
func (p *processPage) SubmittedForm(id string) submittedForm {
	if p.RefusedForm.ID == id {
		return p.RefusedForm
	}
	return submittedForm{}
}

// detailOf is what people read of an error. Of a refusal it is the reason alone, which the catalogue translates, since
// the page says what was refused.
func detailOf(err error) string {
	if refused, isRefused := errors.AsType[*client.RefusedError](err); isRefused {
		return refused.Reason
	}
	return api.ProblemOf(err).Detail
}

// showProcessAgain shows the process with a refused form, so that nothing that was typed is lost. fieldErrors has the
// errors by control, and the text of cause is added under "". An error of the server has a page of its own, so it is
// returned.
func (v *visit) showProcessAgain(formID string, cause error, fieldErrors map[string]string) error {
	problem := api.ProblemOf(cause)
	if problem.Status >= http.StatusInternalServerError {
		return cause
	}
	// This page answers a POST, so that the browser cannot reload it. It may take longer than others.
	v.Request = v.WithContext(withPageStart(v.Context(), time.Now().Add(v.ActionTimeout)))
	p, err := v.newProcessPage()
	if err != nil || p.HasEnded { // an ended process has no forms
		return cause
	}
	if fieldErrors == nil {
		fieldErrors = map[string]string{}
	}
	fieldErrors[""] = detailOf(cause)
	// a page that reloads would lose the entries
	p.ReloadsItself, p.RefusedForm = false, submittedForm{formID, v.PostForm, fieldErrors}
	return v.render(problem.Status, "process", p)
}
