package delegate

import (
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// NewIdea returns the Idea that a Call's delegate starts from: the file or, if it is nil, one made from the Tool's
// description. The scopes are added under their names, and the parameters as input. llm is the `config.llm` of an
// anonymous delegate.
func NewIdea(t *ideafile.Tool, file jsonval.Object, llm any, params, scopes jsonval.Object) jsonval.Object {
	context := slices.Clone(jsonval.AsList(file["context"]))
	idea := jsonval.WithoutKey(file, "context")
	if file == nil {
		idea["meta"] = jsonval.Object{"path": t.Name}
		if llm != nil {
			idea["config"] = jsonval.Object{"llm": llm}
		}
		context = append(context,
			jsonval.Object{"type": ideafile.TypeText, "text": "You are this tool: " + t.Name + ". " + t.Description})
	}
	schema := jsonval.AsObject(file["schema"])
	if schema["output"] == nil && t.OutputSchema != nil {
		schema = jsonval.WithKey(schema, "output", t.OutputSchema.Source)
	}
	if idea["schema"] = schema; schema == nil {
		idea["schema"] = jsonval.Object{}
	}
	for place, value := range jsonval.Sorted(scopes) {
		if ref, err := refexpr.ParseScope(place); err == nil {
			context = append(context, scopeMessage(ref, value))
		}
	}
	idea["context"] = append(context, jsonval.Object{"type": ideafile.TypeInput, ideafile.TypeInput: params})
	return idea
}

// scopeMessage is the Message that gives a delegate the value of one scope.
func scopeMessage(ref refexpr.Reference, value any) jsonval.Object {
	for n := len(ref.Path) - 1; n >= 0; n-- {
		value = jsonval.Object{ref.Path[n]: value}
	}
	switch ref.Kind {
	case ideafile.TypeState, ideafile.TypeInput:
		return jsonval.Object{"type": ref.Kind, ref.Kind: value}
	}
	return jsonval.Object{"type": ideafile.TypeData, "kind": ref.Kind, ideafile.TypeData: value}
}

// ValuesByPath returns the values of a State at some paths, by path: those that a delegate writes to its parent's
// State. Paths without a value are left out.
func ValuesByPath(state any, paths []jsonval.Path) jsonval.Object {
	out := jsonval.Object{}
	for _, p := range paths {
		if v, ok := refexpr.ValueOrBlobHandleAt(state, p); ok {
			out[p.String()] = v
		}
	}
	return out
}
