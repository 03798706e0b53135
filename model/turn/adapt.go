package turn

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Adaptation is what the LLM was asked to fit to a Tool's schema, and what it made of it, by parameter.
type Adaptation struct {
	// Reason the values did not fit.
	Reason  string         `json:"why"`
	From map[string]any `json:"from"`
	// To is nil while the LLM has not answered.
	To map[string]any `json:"to,omitempty"`
}

// answered says whether the LLM has fitted the values.
func (a *Adaptation) Answered() bool { return a != nil && a.To != nil }

// still words that fitting has not helped.
func (a *Adaptation) FaultPrefix() string {
	if !a.Answered() {
		return ""
	}
	return "the values were fitted to the schema and still do not fit: "
}

// over lays the values that were fitted over those that the References brought.
func (a *Adaptation) ApplyTo(params map[string]any) map[string]any {
	if !a.Answered() {
		return params
	}
	out := map[string]any{}
	for _, k := range jsonval.SortedKeys(params) {
		if _, adapted := a.From[k]; !adapted {
			out[k] = params[k]
		}
	}
	for _, k := range jsonval.SortedKeys(a.To) {
		out[k] = a.To[k]
	}
	return out
}

// ReadAnswer reads one entry of a reply that was asked for results and fitted values alone: {"_call","_output"} or
// {"_call","_params"}. params is nil where it is a result.
func ReadAnswer(i *ideafile.Idea, in *RequestInput, w ideafile.WrittenCall) (a Question, output any, params map[string]any, f *diag.Fault) {
	m := w.Fields()
	for _, a := range in.Questions {
		if a.ParamsError == "" || m["_call"] != a.ID {
			continue
		}
		params, ok := m["_params"].(map[string]any)
		if !ok {
			return a, nil, nil, diag.Faultf(ideafile.CodeBadForm, "what is to be fitted of %s has no _params", a.ID)
		}
		return a, nil, i.Tool(a.Tool).WithoutNullParams(params), nil
	}
	a, output, f = ReadResultAnswer(i, in, w)
	return a, output, nil, f
}

// QuestionSummary says in a few words what an asking Request is about.
func (in *RequestInput) QuestionSummary() string {
	misfits := 0
	for _, a := range in.Questions {
		if a.ParamsError != "" {
			misfits++
		}
	}
	switch latent := len(in.Questions) - misfits; {
	case misfits == 0:
		return fmt.Sprintf("results of %d latent Calls", latent)
	case latent == 0:
		return fmt.Sprintf("fit the values of %d Calls", misfits)
	default:
		return fmt.Sprintf("results of %d latent Calls, and fit the values of %d", latent, misfits)
	}
}
