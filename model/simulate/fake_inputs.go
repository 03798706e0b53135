package simulate

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/plangraph"
	"processidea/model/refexpr"
	"processidea/model/sample"
)

// This file makes up the data that a file does not bring, so that it can be simulated from schemas alone.

// Supply gives the messages that bring what an Idea's Plans and wired parameters read and nobody gives, and what the schemas
// of its input and data describe and the file leaves out. Each is marked as simulated. State that a Call would write is left
// open. The names of what was made up stand beside them.
func FakeInputs(i *ideafile.Idea) (messages []any, names []string) {
	s := &supplier{idea: i, written: writtenPaths(i)}
	for _, token := range i.Tokens() {
		view := ideafile.ViewOf(i.Context, token)
		made := map[string]any{}
		s.bySchemas(view, made)
		for _, r := range s.read() {
			s.byReader(view, made, r)
		}
		for _, kind := range jsonval.SortedKeys(made) {
			messages = append(messages, suppliedMessage(kind, token, overGiven(view.Payload[kind], made[kind])))
		}
	}
	return messages, s.names
}

// overGiven lays what was made up over what is there at the same top-level keys: an instance's own keys replace shared ones.
func overGiven(given, made any) any {
	out := map[string]any{}
	//workflowcheck:ignore -- a map again
	for key, v := range jsonval.AsObject(made) {
		if before, ok := jsonval.AsObject(given)[key]; ok {
			v = jsonval.Merge(before, v)
		}
		out[key] = v
	}
	return out
}

func suppliedMessage(kind, token string, payload any) map[string]any {
	m := map[string]any{"type": kind, kind: payload, ideafile.SimulatedKey: true}
	if kind != ideafile.TypeState && kind != ideafile.TypeInput {
		m = map[string]any{"type": ideafile.TypeData, "kind": kind, ideafile.TypeData: payload, ideafile.SimulatedKey: true}
	}
	if token != "" {
		m["_instance"] = token
	}
	return m
}

type supplier struct {
	idea    *ideafile.Idea
	written []jsonval.Path
	names   []string
}

// writtenPaths lists where the Calls of Plans, and the Tools whose designer says so, put their results.
func writtenPaths(i *ideafile.Idea) (paths []jsonval.Path) {
	add := func(v any) {
		if o, err := refexpr.ParseOutputPath(v); err == nil {
			paths = append(paths, o.Paths()...)
		}
	}
	for _, t := range i.Tools {
		if t.OutputPath.Declared && t.OutputPath.Schema == nil {
			add(t.OutputPath.Fixed)
		}
		paths = append(paths, t.DelegateWrites...)
	}
	for _, m := range i.Context {
		for _, w := range m.Calls {
			call := w.Fields()
			if t := i.Tool(w.Tool); t != nil && t.IsOutputPathAlias("output", call["output"]) {
				add(call["output"])
			}
			add(call["_outputPath"])
		}
	}
	return paths
}

// bySchemas makes up what the schemas of input and data describe and is not there.
func (s *supplier) bySchemas(view ideafile.View, made map[string]any) {
	for _, kind := range jsonval.SortedKeys(view.Schema) {
		if kind == ideafile.TypeState {
			continue
		}
		v, err := sample.Sample(view.Schema[kind])
		given, isObject := view.Payload[kind].(map[string]any)
		sample := jsonval.AsObject(v)
		if err != nil || !isObject {
			continue
		}
		for _, key := range jsonval.SortedKeys(sample) {
			if _, there := given[key]; !there {
				s.put(made, refexpr.Reference{Kind: kind, Path: jsonval.Path{key}}, sample[key])
			}
		}
	}
}

// reader is a Reference, and the schema of the parameter that it stands for.
type reader struct {
	ref    refexpr.Reference
	schema any
}

// read lists what Plans and wired parameters read, each with the first that reads it.
func (s *supplier) read() (list []reader) {
	for _, m := range s.idea.Context {
		for _, w := range m.Calls {
			call, t := w.Fields(), s.idea.Tool(w.Tool)
			for _, name := range jsonval.SortedKeys(call) {
				if name[:min(1, len(name))] == "_" || t != nil && t.IsOutputPathAlias(name, call[name]) {
					continue
				}
				list = append(list, readers(call[name], t, name)...)
			}
		}
	}
	for _, t := range s.idea.Tools {
		for _, name := range jsonval.SortedKeys(t.WiredParams) {
			list = append(list, readers(t.WiredParams[name], t, name)...)
		}
	}
	return list
}

// readers lists the References of a parameter: one that stands for all of it has its schema.
func readers(v any, t *ideafile.Tool, name string) (list []reader) {
	refs, err := refexpr.References(v)
	if err != nil {
		return nil
	}
	var schema any = map[string]any{}
	if text, ok := v.(string); ok && t != nil && refexpr.IsReference(text) {
		schema = paramSchema(t, name)
	}
	for _, ref := range refs {
		list = append(list, reader{ref, schema})
	}
	return list
}

// byReader makes up a value that is read, that is not there, and that no Call writes.
func (s *supplier) byReader(view ideafile.View, made map[string]any, r reader) {
	if len(r.ref.Path) == 0 || r.ref.Kind == ideafile.TypeState && plangraph.OverlapsAny(r.ref.Path, s.written) {
		return
	}
	given := jsonval.Merge(view.Payload[r.ref.Kind], made[r.ref.Kind])
	if made[r.ref.Kind] == nil {
		given = view.Payload[r.ref.Kind]
	}
	if _, there := jsonval.Lookup(given, r.ref.Path); there || given != nil && jsonval.TypeOf(given) != "object" {
		return
	}
	schema := r.schema
	if own := view.Schema[r.ref.Kind]; own != nil {
		if at := jsonschema.PlaceOf(own, r.ref.Path); at.Known {
			part, _ := jsonschema.ResolvePointer(own, at.Pointer)
			schema = map[string]any{"allOf": []any{jsonschema.Rooted(own, part), r.schema}}
		}
	}
	if v, err := sample.Sample(schema); err == nil {
		s.put(made, r.ref, v)
	}
}

// put lays a value at its place among what was made up. Lists are not filled: an index makes no list.
func (s *supplier) put(made map[string]any, ref refexpr.Reference, v any) {
	for n := len(ref.Path) - 1; n >= 0; n-- {
		v = map[string]any{ref.Path[n]: v}
	}
	if before, ok := made[ref.Kind]; ok {
		v = jsonval.Merge(before, v)
	}
	made[ref.Kind] = v
	if name := ref.String(); !slices.Contains(s.names, name) {
		s.names = append(s.names, name)
	}
}
