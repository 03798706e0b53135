package turn

import "processidea/model/jsonval"

// Adaptation records that resolved parameters of a Call did not fit its Tool's schema, and what the LLM made of them. Only
// values that came through a Reference are adapted.
type Adaptation struct {
	// Reason is why the values did not fit.
	Reason string `json:"why"`
	// From holds the parameters that the LLM was asked to change.
	From map[string]any `json:"from"`
	// To holds the parameters that the LLM wrote; nil while it has not answered.
	To map[string]any `json:"to,omitempty"`
}

// Answered reports whether the LLM has adapted the parameters.
func (a *Adaptation) Answered() bool { return a != nil && a.To != nil }

// FaultPrefix introduces the error of parameters that do not fit even after they were adapted; empty before.
func (a *Adaptation) FaultPrefix() string {
	if !a.Answered() {
		return ""
	}
	return "the values were fitted to the schema and still do not fit: "
}

// ApplyTo returns the parameters with the adapted ones in place of those that the LLM was asked to change.
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
