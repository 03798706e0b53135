package model

import (
	"fmt"
	"slices"
)

// This file holds the rules of adapting: where the values that References brought do not fit a Tool's schema, the LLM is
// asked to fit them, and nothing else of the Call.

// Adapted is what the LLM was asked to fit to a Tool's schema, and what it made of it, by parameter.
type Adapted struct {
	// Why the values did not fit.
	Why  string         `json:"why"`
	From map[string]any `json:"from"`
	// To is nil while the LLM has not answered.
	To map[string]any `json:"to,omitempty"`
}

// answered says whether the LLM has fitted the values.
func (a *Adapted) answered() bool { return a != nil && a.To != nil }

// adapts asks the LLM to fit the parameters of a Call that is ready and does not fit its Tool. It gives false where that is
// no use or not allowed: a literal that does not fit, an answer that still does not, nobody to ask.
func (r *Run) adapts(rec *Record, tool *Tool, params map[string]any, why error) bool {
	if !r.palette.Adapt || rec.Adapted != nil || r.alone() || tool.literalsFit(rec.Params) != nil {
		return false
	}
	names := tool.unfit(rec.Params, params)
	if len(names) == 0 {
		return false
	}
	rec.Adapted = &Adapted{Why: why.Error(), From: map[string]any{}}
	for _, k := range names {
		rec.Adapted.From[k] = params[k]
	}
	rec.Asking = true
	return true
}

// alone says whether nobody may be asked about the instance: its Plan is complete.
func (r *Run) alone() bool {
	at, barred := directPlansOf(r.context).choose(r.token, r.view)
	return barred || at >= 0 && r.context[at].Stage == StageComplete
}

// unfit lists the parameters to be fitted: of those that References brought, those that do not fit by themselves, or all
// where each does and together they do not. What holds a handle is checked, and refused, by the activity.
func (t *Tool) unfit(raw, params map[string]any) []string {
	var brought, unfit []string
	for _, k := range sortedKeys(raw) {
		if refs, err := References(raw[k]); err != nil || len(refs) == 0 || HasHandle(params[k]) {
			continue
		}
		brought = append(brought, k)
		if schema := t.each[k]; schema != nil && schema.Validate(params[k]) != nil {
			unfit = append(unfit, k)
		}
	}
	if unfit == nil && t.params.Validate(params) != nil {
		return brought
	}
	return unfit
}

// literalsFit says how what is written literally beside References, within one parameter, does not fit.
func (t *Tool) literalsFit(raw map[string]any) error {
	for _, k := range sortedKeys(raw) {
		if err := t.literalFits(Path{k}, raw[k]); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tool) literalFits(at Path, v any) error {
	if refs, err := References(v); err != nil || len(refs) == 0 {
		form := t.Form()
		p := placeOf(form, at)
		if !p.known || HasHandle(v) {
			return nil
		}
		literal, err := Resolve(v, nil)
		if err != nil {
			return err
		}
		schema, err := compileAt(form, p.pointer)
		if err != nil {
			return err
		}
		return schema.Validate(literal)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if err := t.literalFits(slices.Concat(at, Path{k}), v[k]); err != nil {
				return err
			}
		}
	case []any:
		for n, e := range v {
			if err := t.literalFits(slices.Concat(at, Path{fmt.Sprint(n)}), e); err != nil {
				return err
			}
		}
	}
	return nil
}

// Adapt takes the parameters that the LLM fitted. Those that it was not asked for, and what was written literally, stay as
// they were: an answer that changes them is no answer.
func (r *Run) Adapt(id string, params map[string]any) {
	rec := r.Find(id)
	if rec == nil || !rec.Asking || rec.Adapted == nil {
		return
	}
	rec.Asking = false
	for _, k := range sortedKeys(rec.Adapted.From) {
		v, given := params[k]
		if given && !keepsLiterals(rec.Params[k], v) {
			rec.end(Failed, fault(CodeBadParams, "parameter %q: fitting it to the schema changed what was written literally", k))
			return
		}
		if !given && findTool(r.palette.Tools, rec.Tool).required(k) {
			rec.end(Failed, fault(CodeBadParams, "parameter %q is missing among those that were fitted to the schema", k))
			return
		}
	}
	rec.Adapted.To = map[string]any{}
	for _, k := range sortedKeys(rec.Adapted.From) {
		if v, given := params[k]; given {
			rec.Adapted.To[k] = v
		}
	}
}

// still words that fitting has not helped.
func (a *Adapted) still() string {
	if !a.answered() {
		return ""
	}
	return "the values were fitted to the schema and still do not fit: "
}

// over lays the values that were fitted over those that the References brought.
func (a *Adapted) over(params map[string]any) map[string]any {
	if !a.answered() {
		return params
	}
	out := map[string]any{}
	for _, k := range sortedKeys(params) {
		if _, asked := a.From[k]; !asked {
			out[k] = params[k]
		}
	}
	for _, k := range sortedKeys(a.To) {
		out[k] = a.To[k]
	}
	return out
}

// keepsLiterals says whether a fitted value holds all that was written literally beside References.
func keepsLiterals(raw, fitted any) bool {
	if refs, err := References(raw); err != nil || len(refs) == 0 {
		literal, err := Resolve(raw, nil)
		return err == nil && Equal(literal, fitted)
	}
	switch raw := raw.(type) {
	case map[string]any:
		m, ok := fitted.(map[string]any)
		for _, k := range sortedKeys(raw) {
			ok = ok && keepsLiterals(raw[k], m[k])
		}
		return ok
	case []any:
		list, ok := fitted.([]any)
		if !ok || len(list) != len(raw) {
			return false
		}
		for n := range raw {
			ok = ok && keepsLiterals(raw[n], list[n])
		}
		return ok
	}
	return true // a Reference: its value is what was fitted
}

// asked is the Call as the process is told of it: for its result, or to fit parameters.
func (r *Run) asked(rec *Record) (Asked, bool) {
	a := Asked{ID: rec.ID, Token: r.token, Tool: rec.Tool}
	if rec.Adapted != nil && !rec.Adapted.answered() {
		a.Params, a.Why = rec.Adapted.From, rec.Adapted.Why
		return a, true
	}
	var err error
	a.Params, err = r.Resolved(rec)
	return a, err == nil
}

// Questions lists what the LLM is to be asked by itself: the results of latent Calls, and values to be fitted.
func (r *Run) Questions() []Asked {
	var list []Asked
	for _, rec := range r.Asking() {
		if a, ok := r.asked(rec); ok {
			list = append(list, a)
		}
	}
	return list
}

// ReadAnswer reads one entry of a reply that was asked for results and fitted values alone: {"_call","_output"} or
// {"_call","_params"}. params is nil where it is a result.
func ReadAnswer(i *Idea, b *Brief, v any) (a Asked, output any, params map[string]any, f *Fault) {
	m, _ := v.(map[string]any)
	for _, a := range b.Asking {
		if a.Why == "" || m["_call"] != a.ID {
			continue
		}
		params, ok := m["_params"].(map[string]any)
		if !ok {
			return a, nil, nil, fault(CodeBadForm, "what is to be fitted of %s has no _params", a.ID)
		}
		return a, nil, i.Tool(a.Tool).withoutAbsent(params), nil
	}
	a, output, f = ReadResult(i, b, v)
	return a, output, nil, f
}

// withoutAbsent leaves out what is null because it may be absent.
func (t *Tool) withoutAbsent(params map[string]any) map[string]any {
	out := map[string]any{}
	for _, k := range sortedKeys(params) {
		if t == nil {
			out[k] = params[k]
			continue
		}
		if params[k] == nil && !t.required(k) && !t.each[k].takesNull() {
			continue
		}
		out[k] = withoutNulls(t.Source, Path{k}, params[k])
	}
	return out
}

// fitting is the form of the entries that give fitted values of a Tool, one choice for each set of parameters.
func (c *composer) fitting(t *Tool, asking []Asked) []any {
	var sets []string
	ids, names := map[string][]any{}, map[string][]string{}
	for _, a := range asking {
		if a.Tool != t.Name || a.Why == "" {
			continue
		}
		set := string(Encode(Normal(sortedKeys(a.Params))))
		if ids[set] == nil {
			sets = append(sets, set)
		}
		ids[set], names[set] = append(ids[set], a.ID), sortedKeys(a.Params)
	}
	var choices []any
	for n, set := range sets {
		props, _ := t.Form()["properties"].(map[string]any)
		var fields []Field
		for _, k := range names[set] {
			fields = append(fields, Field{k, c.fitted(t, k, props[k], n)})
		}
		choices = append(choices, closedObject(Field{"_call", Ordered{{"type", "string"}, {"enum", ids[set]}}},
			Field{"_params", closedObject(fields...)}))
	}
	return choices
}

// fitted is the form of one fitted value.
func (c *composer) fitted(t *Tool, name string, schema any, n int) any {
	if schema == nil {
		schema = map[string]any{}
	}
	var form any
	if c.strict {
		s, why := strictForm(rooted(t.Source, schema), nil)
		if why != "" {
			c.refuse(fmt.Sprintf("tool %s, parameter %q", t.Name, name), why)
		}
		form = s
	} else {
		place := fmt.Sprintf("fit%d_%s", n, t.Name)
		if !c.defines(place) {
			c.move(place, t.Form())
		}
		form = Ordered{{"$ref", definition(place) + "/properties/" + escapePointer(name)}}
	}
	if !t.required(name) {
		form = nullable(form)
	}
	return form
}

func (c *composer) defines(name string) bool {
	return slices.ContainsFunc(c.defs, func(f Field) bool { return f.Key == name })
}

// fits says whether any of what a Request asks for is to be fitted.
func (b *Brief) fits() bool {
	return slices.ContainsFunc(b.Asking, func(a Asked) bool { return a.Why != "" })
}

// Question says in a few words what an asking Request is about.
func (b *Brief) Question() string {
	fits := 0
	for _, a := range b.Asking {
		if a.Why != "" {
			fits++
		}
	}
	switch latent := len(b.Asking) - fits; {
	case fits == 0:
		return fmt.Sprintf("results of %d latent Calls", latent)
	case latent == 0:
		return fmt.Sprintf("fit the values of %d Calls", fits)
	default:
		return fmt.Sprintf("results of %d latent Calls, and fit the values of %d", latent, fits)
	}
}
