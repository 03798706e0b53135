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
func NewIdea(t *ideafile.Tool, file map[string]any, llm any, params, scopes map[string]any) map[string]any {
	context := slices.Clone(jsonval.AsList(file["context"]))
	idea := jsonval.WithoutKey(file, "context")
	if file == nil {
		idea["meta"] = map[string]any{"path": t.Name}
		if llm != nil {
			idea["config"] = map[string]any{"llm": llm}
		}
		context = append(context,
			map[string]any{"type": ideafile.TypeText, "text": "You are this tool: " + t.Name + ". " + t.Description})
	}
	schema := jsonval.AsObject(file["schema"])
	if schema["output"] == nil && t.OutputSchema != nil {
		schema = jsonval.WithKey(schema, "output", t.OutputSchema.Source)
	}
	if idea["schema"] = schema; schema == nil {
		idea["schema"] = map[string]any{}
	}
	for place, value := range jsonval.Sorted(scopes) {
		if ref, err := refexpr.ParseScope(place); err == nil {
			context = append(context, scopeMessage(ref, value))
		}
	}
	idea["context"] = append(context, map[string]any{"type": ideafile.TypeInput, ideafile.TypeInput: params})
	return idea
}

// scopeMessage is the Message that gives a delegate the value of one scope.
func scopeMessage(ref refexpr.Reference, value any) map[string]any {
	for n := len(ref.Path) - 1; n >= 0; n-- {
		value = map[string]any{ref.Path[n]: value}
	}
	switch ref.Kind {
	case ideafile.TypeState, ideafile.TypeInput:
		return map[string]any{"type": ref.Kind, ref.Kind: value}
	}
	return map[string]any{"type": ideafile.TypeData, "kind": ref.Kind, ideafile.TypeData: value}
}

// ValuesByPath returns the values of a State at some paths, by path: those that a delegate writes to its parent's
// State. Paths without a value are left out.
func ValuesByPath(state any, paths []jsonval.Path) map[string]any {
	out := map[string]any{}
	for _, p := range paths {
		if v, ok := refexpr.ValueOrBlobHandleAt(state, p); ok {
			out[p.String()] = v
		}
	}
	return out
}
