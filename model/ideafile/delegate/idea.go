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
func NewIdea(t *ideafile.Tool, file jsonval.Object, llm any, params, scopeValues jsonval.Object) jsonval.Object {
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
	for scope, value := range jsonval.Sorted(scopeValues) {
		if ref, err := refexpr.ParseScope(scope); err == nil {
			value, _ = jsonval.SetAt(nil, ref.Path, value)
			context = append(context, ideafile.EncodePayloadMessage(ideafile.Message{PayloadKind: ref.Kind,
				Payload: value}))
		}
	}
	idea["context"] = append(context, jsonval.Object{"type": ideafile.TypeInput, ideafile.TypeInput: params})
	return idea
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
