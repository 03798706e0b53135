package model

import (
	"regexp"
	"slices"
)

// inventor makes a Plan of a palette: each Tool once, its parameters from State, the input and other Tools' results where
// they have the name and fit, and made up where they must be there.
type inventor struct {
	idea     *Idea
	bindings map[string]Binding
	view     View
	schema   any             // of State; nil: none
	paths    map[string]Path // where each Tool's result goes
	results  map[string]any  // what each might give
	reads    map[string][]string
}

func newInventor(i *Idea, bindings map[string]Binding, token string) *inventor {
	in := &inventor{idea: i, bindings: bindings, view: ViewOf(i.Context, token), paths: map[string]Path{}, results: map[string]any{}, reads: map[string][]string{}}
	in.schema = in.view.Schema[TypeState]
	for _, t := range i.Tools {
		if v, err := MakeUp(t.Name, t.Source["_output"], nil); err == nil {
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
func (in *inventor) calls() []any {
	var out []any
	for _, t := range in.idea.Tools {
		call := map[string]any{"_tool": t.Name}
		for _, name := range sortedKeys(t.each) {
			if v, ok := in.param(t, name); ok {
				call[name] = v
			}
		}
		if p, ok := in.paths[t.Name]; ok && (!t.OutputPath.Declared || t.OutputPath.Schema != nil) {
			call["_outputPath"] = one(p).Reference()
		}
		if v, ok := in.results[t.Name]; ok && in.bindings[t.Name].Kind == KindLatent {
			call["_output"] = v
		}
		out = append(out, call)
	}
	return out
}

// param gives the value of a parameter; ok is false where it is left out.
func (in *inventor) param(t *Tool, name string) (v any, ok bool) {
	if _, wired := t.wired[name]; wired {
		return nil, false
	}
	for _, kind := range append([]string{TypeState, TypeInput}, sortedKeys(in.view.Payload)...) {
		given, ok := Lookup(in.view.Payload[kind], Path{name})
		if ok && t.each[name].Validate(given) == nil {
			return Reference{Kind: kind, Path: Path{name}}.String(), true
		}
	}
	for _, other := range in.idea.Tools {
		p, written := in.paths[other.Name]
		result, made := in.results[other.Name]
		named := other.Name == name || written && len(p) > 0 && p[len(p)-1] == name
		if named && written && made && t.each[name].Validate(result) == nil && !in.reaches(other.Name, t.Name) {
			in.reads[t.Name] = append(in.reads[t.Name], other.Name)
			return Reference{Kind: TypeState, Path: p}.String(), true
		}
	}
	if !t.required(name) {
		return nil, false
	}
	v, err := Sample(t.paramSchema(name))
	return literal(v), err == nil
}

// reaches says whether a Tool reads, by way of others too, what another gives.
func (in *inventor) reaches(from, to string) bool {
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
func (in *inventor) place(t *Tool, taken map[string]bool) (Path, bool) {
	written := t.OutputPath.Fixed
	if s := t.OutputPath.Schema; s != nil {
		written, _ = Sample(s.Source)
	}
	if t.OutputPath.Declared {
		o, err := parseOutputPath(written)
		if err != nil {
			return nil, false
		}
		return o[0][0], true
	}
	free := func(name string) bool {
		_, there := Lookup(in.view.Payload[TypeState], Path{name})
		return !there && !taken[name]
	}
	for _, name := range in.properties(t.Name) {
		landing := &Landing{Schema: in.schema, Path: one(Path{name})}
		result, made := in.results[t.Name]
		if made && t.Output == nil {
			_, err := MakeUp(t.Name, nil, landing)
			made = err == nil
		} else if made {
			made = landing.Check(0, result) == nil
		}
		if made && free(name) {
			return Path{name}, true
		}
	}
	open := in.schema == nil || !placeOf(in.schema, Path{t.Name}).closed && !placeOf(in.schema, Path{t.Name}).known
	return Path{t.Name}, open && plainName.MatchString(t.Name) && free(t.Name)
}

// properties lists those of the State schema: the one of a name first, then those that must be there.
func (in *inventor) properties(first string) []string {
	schema := asObject(in.schema)
	props := asObject(schema["properties"])
	required, _ := stringList(schema["required"])
	var names []string
	for _, list := range [][]string{{first}, required, sortedKeys(props)} {
		for _, name := range list {
			if _, ok := props[name]; ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
