package approval

import (
	"maps"

	"processidea/model/jsonval"
)

// ParamsAdaptation records that resolved parameters of a Call did not fit its Tool's schema, and what the LLM made of
// them. Only values that came through a Reference are adapted.
type ParamsAdaptation struct {
	// MisfitReason is why the values did not fit.
	MisfitReason string `json:"why"`
	// OriginalParams holds the parameters that the LLM was asked to change.
	OriginalParams jsonval.Object `json:"from"`
	// AdaptedParams holds the parameters that the LLM wrote; nil while it has not answered.
	AdaptedParams jsonval.Object `json:"to,omitempty"`
}

// IsAnswered reports whether the LLM has adapted the parameters.
func (a *ParamsAdaptation) IsAnswered() bool { return a != nil && a.AdaptedParams != nil }

// FaultPrefix introduces the error of parameters that do not fit even after they were adapted. It is empty while they
// are not.
func (a *ParamsAdaptation) FaultPrefix() string {
	if !a.IsAnswered() {
		return ""
	}
	return "the values were fitted to the schema and still do not fit: "
}

// ApplyTo returns the parameters with the adapted ones in place of those that the LLM was asked to change.
func (a *ParamsAdaptation) ApplyTo(params jsonval.Object) jsonval.Object {
	if !a.IsAnswered() {
		return params
	}
	out := jsonval.Object{}
	maps.Copy(out, params)
	for k := range jsonval.Sorted(a.OriginalParams) {
		delete(out, k)
	}
	maps.Copy(out, a.AdaptedParams)
	return out
}
