package simulate

import (
	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonschema/sample"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// FakeInputs returns messages with made-up data, each marked as simulated. It makes up what the file lacks: the data
// that Plans and wired parameters read, and the data that the schemas of input and data describe. It makes up no State
// that a Call would write. references lists the References to the made-up data.
func FakeInputs(idea *ideafile.Idea) (messages []any, madeUpReferences []string) {
	faker := &inputFaker{idea: idea, writtenPaths: writtenPaths(idea)}
	for _, token := range idea.InstanceTokens() {
		view := ideafile.InstanceViewOf(idea.Context, token)
		fakedPayloadByKind := jsonval.Object{}
		faker.fakeValuesFromSchemas(view, fakedPayloadByKind)
		for _, r := range faker.collectParamReferences() {
			faker.fakeForReference(view, fakedPayloadByKind, r)
		}
		for kind, v := range jsonval.Sorted(fakedPayloadByKind) {
			messages = append(messages,
				simulatedMessage(kind, token, mergeOverExisting(view.PayloadByKind[kind], v)))
		}
	}
	return messages, faker.madeUpReferences
}

// mergeOverExisting merges made-up values over the existing values of the same top-level keys, since an instance's own
// key replaces the shared one entirely.
func mergeOverExisting(existingPayload, fakedPayload any) any {
	out := jsonval.Object{}
	//workflowcheck:ignore -- builds a map: the order does not matter
	for key, v := range jsonval.AsObject(fakedPayload) {
		if oldValue, ok := jsonval.AsObject(existingPayload)[key]; ok {
			v = jsonval.DeepMerge(oldValue, v)
		}
		out[key] = v
	}
	return out
}

func simulatedMessage(kind, token string, payload any) jsonval.Object {
	m := ideafile.EncodePayloadMessage(ideafile.Message{PayloadKind: kind, InstanceToken: token, Payload: payload})
	m[ideafile.SimulatedMessageKey] = true
	return m
}

type inputFaker struct {
	idea             *ideafile.Idea
	writtenPaths     []jsonval.Path
	madeUpReferences []string
}

// writtenPaths lists the output paths of the Calls of Plans, and those that designers fixed in Tools.
func writtenPaths(idea *ideafile.Idea) (paths []jsonval.Path) {
	add := func(v any) {
		if o, err := refexpr.ParseOutputPath(v); err == nil {
			paths = append(paths, o.Paths()...)
		}
	}
	for _, t := range idea.Tools {
		if t.OutputPath.IsDeclared && t.OutputPath.Schema == nil {
			add(t.OutputPath.FixedValue)
		}
		paths = append(paths, t.DelegateWritablePaths...)
	}
	for _, m := range idea.Context {
		for _, w := range m.PlanCalls {
			call := w.RawObject()
			if t := idea.Tool(w.Tool); t != nil && t.IsOutputPathAlias("output", call["output"]) {
				add(call["output"])
			}
			add(call["_outputPath"])
		}
	}
	return paths
}

// fakeValuesFromSchemas makes up the missing properties that the schemas of input and data describe.
func (f *inputFaker) fakeValuesFromSchemas(view ideafile.InstanceView, fakedPayloadByKind jsonval.Object) {
	for kind, v := range jsonval.Sorted(view.SchemaByKind) {
		if kind == ideafile.TypeState {
			continue
		}
		sampleValue, err := sample.MakeSample(v)
		existingPayload, isObject := view.PayloadByKind[kind].(jsonval.Object)
		sampleObject := jsonval.AsObject(sampleValue)
		if err != nil || !isObject {
			continue
		}
		for key, v := range jsonval.Sorted(sampleObject) {
			if _, isPresent := existingPayload[key]; !isPresent {
				f.mergeAtReference(fakedPayloadByKind, refexpr.Reference{Kind: kind, Path: jsonval.Path{key}}, v)
			}
		}
	}
}

// paramReference is a Reference, and the schema of the parameter that reads it.
type paramReference struct {
	ref         refexpr.Reference
	paramSchema any
}

// collectParamReferences lists the References in Plans and wired parameters, in file order: the first that reads a path
// decides its schema.
func (f *inputFaker) collectParamReferences() (list []paramReference) {
	for _, m := range f.idea.Context {
		for _, written := range m.PlanCalls {
			call, t := written.RawObject(), f.idea.Tool(written.Tool)
			for name, v := range jsonval.Sorted(call) {
				if name[:min(1, len(name))] == "_" || t != nil && t.IsOutputPathAlias(name, v) {
					continue
				}
				list = append(list, paramReferences(v, t, name)...)
			}
		}
	}
	for _, t := range f.idea.Tools {
		for name, v := range jsonval.Sorted(t.WiredExpressionByParam) {
			list = append(list, paramReferences(v, t, name)...)
		}
	}
	return list
}

// paramReferences lists the References in a parameter's value. A Reference that is the whole value gets the parameter's
// schema.
func paramReferences(v any, t *ideafile.Tool, name string) (list []paramReference) {
	refs, err := refexpr.FindReferences(v)
	if err != nil {
		return nil
	}
	var schema any = jsonval.Object{}
	if text, ok := v.(string); ok && t != nil && refexpr.IsExpressionOrTemplate(text) && !refexpr.IsTemplate(text) {
		schema = paramSchema(t, name)
	}
	for _, ref := range refs {
		list = append(list, paramReference{ref, schema})
	}
	return list
}

// fakeForReference makes up a value for a Reference that has none, unless a Call writes it.
func (f *inputFaker) fakeForReference(view ideafile.InstanceView, fakedPayloadByKind jsonval.Object, r paramReference) {
	if len(r.ref.Path) == 0 || (r.ref.Kind == ideafile.TypeState && plangraph.OverlapsAny(r.ref.Path, f.writtenPaths)) {
		return
	}
	existingPayload := jsonval.DeepMerge(view.PayloadByKind[r.ref.Kind], fakedPayloadByKind[r.ref.Kind])
	if fakedPayloadByKind[r.ref.Kind] == nil {
		existingPayload = view.PayloadByKind[r.ref.Kind]
	}
	if _, isPresent := jsonval.ValueAt(existingPayload, r.ref.Path); isPresent ||
		existingPayload != nil && jsonval.TypeOf(existingPayload) != "object" {
		return
	}
	schema := r.paramSchema
	if kindSchema := view.SchemaByKind[r.ref.Kind]; kindSchema != nil {
		if subschema := jsonschema.SubschemaAt(kindSchema, r.ref.Path); subschema.IsDescribed {
			partSchema, _ := jsonschema.ResolvePointer(kindSchema, subschema.Pointer)
			schema = jsonval.Object{"allOf": []any{jsonschema.InlineRefs(kindSchema, partSchema), r.paramSchema}}
		}
	}
	if v, err := sample.MakeSample(schema); err == nil {
		f.mergeAtReference(fakedPayloadByKind, r.ref, v)
	}
}

// mergeAtReference merges a value into the made-up ones at the Reference's path. Every step becomes a key: lists are
// not made up element by element.
func (f *inputFaker) mergeAtReference(fakedPayloadByKind jsonval.Object, ref refexpr.Reference, v any) {
	v, _ = jsonval.SetAt(nil, ref.Path, v)
	if existingPayload, ok := fakedPayloadByKind[ref.Kind]; ok {
		v = jsonval.DeepMerge(existingPayload, v)
	}
	fakedPayloadByKind[ref.Kind] = v
	f.madeUpReferences = jsonval.AppendNew(f.madeUpReferences, ref.String())
}
