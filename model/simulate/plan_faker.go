package simulate

import (
	"regexp"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/sample"
	"processidea/model/statelog"
)

// inventor makes a Plan of a palette: each Tool once, its parameters from State, the input and other Tools' results where
// they have the name and fit, and made up where they must be there.
type planFaker struct {
	idea     *ideafile.Idea
	bindings map[string]ideafile.Binding
	view     ideafile.View
	schema   any                     // of State; nil: none
	paths    map[string]jsonval.Path // where each Tool's result goes
	results  map[string]any          // what each might give
	reads    map[string][]string
}

func newPlanFaker(i *ideafile.Idea, bindings map[string]ideafile.Binding, token string) *planFaker {
	in := &planFaker{idea: i, bindings: bindings, view: ideafile.ViewOf(i.Context, token), paths: map[string]jsonval.Path{}, results: map[string]any{}, reads: map[string][]string{}}
	in.schema = in.view.Schema[ideafile.TypeState]
	for _, t := range i.Tools {
		if v, err := FakeResult(t.Name, t.Source["_output"], nil); err == nil {
			in.results[t.Name] = v
		}
	}
	taken := map[string]bool{}
	for _, said := range []bool{true, false} { // those that may give anything take what the others leave
		for _, t := range i.Tools {
			if p, ok := in.place(t, taken); ok && (t.Output != nil) == said {
				in.paths[t.Name] = p
				if len(p) > 0 {
					taken[p[0]] = true
				}
			}
		}
	}
	return in
}

// calls gives the Plan.
func (in *planFaker) calls() []any {
	var out []any
	for _, t := range in.idea.Tools {
		call := map[string]any{"_tool": t.Name}
		for _, name := range jsonval.SortedKeys(t.SchemaByParam) {
			if v, ok := in.param(t, name); ok {
				call[name] = v
			}
		}
		if p, ok := in.paths[t.Name]; ok && (!t.OutputPath.Declared || t.OutputPath.Schema != nil) {
			call["_outputPath"] = refexpr.SinglePath(p).Reference()
		}
		if v, ok := in.results[t.Name]; ok && in.bindings[t.Name].Kind == ideafile.KindLatent {
			call["_output"] = v
		}
		out = append(out, call)
	}
	return out
}

// param gives the value of a parameter; ok is false where it is left out.
func (in *planFaker) param(t *ideafile.Tool, name string) (v any, ok bool) {
	if _, wired := t.WiredParams[name]; wired {
		return nil, false
	}
	for _, kind := range append([]string{ideafile.TypeState, ideafile.TypeInput}, jsonval.SortedKeys(in.view.Payload)...) {
		given, ok := jsonval.Lookup(in.view.Payload[kind], jsonval.Path{name})
		if ok && t.SchemaByParam[name].Validate(given) == nil {
			return refexpr.Reference{Kind: kind, Path: jsonval.Path{name}}.String(), true
		}
	}
	for _, other := range in.idea.Tools {
		p, written := in.paths[other.Name]
		result, made := in.results[other.Name]
		named := other.Name == name || written && len(p) > 0 && p[len(p)-1] == name
		if named && written && made && t.SchemaByParam[name].Validate(result) == nil && !in.reaches(other.Name, t.Name) {
			in.reads[t.Name] = append(in.reads[t.Name], other.Name)
			return refexpr.Reference{Kind: ideafile.TypeState, Path: p}.String(), true
		}
	}
	if !t.Requires(name) {
		return nil, false
	}
	v, err := sample.Sample(paramSchema(t, name))
	return literal(v), err == nil
}

// reaches says whether a Tool reads, by way of others too, what another gives.
func (in *planFaker) reaches(from, to string) bool {
	if from == to {
		return true
	}
	for _, next := range in.reads[from] {
		if in.reaches(next, to) {
			return true
		}
	}
	return false
}

var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// place finds where in State a Tool's result goes: where its designer says, at a property of the State schema that it
// fits, or under the Tool's name where State is open.
func (in *planFaker) place(t *ideafile.Tool, taken map[string]bool) (jsonval.Path, bool) {
	written := t.OutputPath.Fixed
	if s := t.OutputPath.Schema; s != nil {
		written, _ = sample.Sample(s.Source)
	}
	if t.OutputPath.Declared {
		o, err := refexpr.ParseOutputPath(written)
		if err != nil {
			return nil, false
		}
		return o[0][0], true
	}
	free := func(name string) bool {
		_, there := jsonval.Lookup(in.view.Payload[ideafile.TypeState], jsonval.Path{name})
		return !there && !taken[name]
	}
	for _, name := range in.properties(t.Name) {
		landing := &statelog.ResultContract{Schema: in.schema, Path: refexpr.SinglePath(jsonval.Path{name})}
		result, made := in.results[t.Name]
		if made && t.Output == nil {
			_, err := FakeResult(t.Name, nil, landing)
			made = err == nil
		} else if made {
			made = landing.Check(0, result) == nil
		}
		if made && free(name) {
			return jsonval.Path{name}, true
		}
	}
	open := in.schema == nil || !jsonschema.PlaceOf(in.schema, jsonval.Path{t.Name}).Closed && !jsonschema.PlaceOf(in.schema, jsonval.Path{t.Name}).Known
	return jsonval.Path{t.Name}, open && plainName.MatchString(t.Name) && free(t.Name)
}

// properties lists those of the State schema: the one of a name first, then those that must be there.
func (in *planFaker) properties(first string) []string {
	schema := jsonval.AsObject(in.schema)
	props := jsonval.AsObject(schema["properties"])
	required, _ := jsonval.StringList(schema["required"])
	var names []string
	for _, list := range [][]string{{first}, required, jsonval.SortedKeys(props)} {
		for _, name := range list {
			if _, ok := props[name]; ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
