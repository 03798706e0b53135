package check

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// lookupValueOutsideState returns the value of a Reference to anything but State, or the reason why it has none.
func lookupValueOutsideState(view ideafile.InstanceView, ref refexpr.Reference) (v any, reason string) {
	payload, ok := view.PayloadByKind[ref.Kind]
	if !ok {
		kinds := append(jsonval.SortedKeys(view.PayloadByKind), ideafile.TypeState)
		return nil, fmt.Sprintf("reference %s: the context has no %q%s", ref, jsonval.ClipForError(ref.Kind),
			diag.DidYouMean(ref.Kind, kinds))
	}
	v, ok = refexpr.ValueOrBlobHandleAt(payload, ref.Path)
	if ok {
		return v, ""
	}
	return nil, fmt.Sprintf("reference %s: nothing there%s", ref, suggestNearestValue(payload, ref))
}

// ideaTemplateAwaitsValue reports whether the instances of a template are to supply the value of a Reference: a schema
// has a place for the value.
func (c *checker) ideaTemplateAwaitsValue(view ideafile.InstanceView, ref refexpr.Reference) bool {
	schema := view.SchemaByKind[ref.Kind]
	if !c.idea.IsUnfilledTemplate() || len(ref.Path) == 0 || jsonschema.SubschemaAt(schema, ref.Path).IsForbidden {
		return false
	}
	return jsonschema.Properties(schema)[ref.Path[0]] != nil
}

// suggestNearestValue describes the value at the point at which a path ends in nothing.
func suggestNearestValue(v any, ref refexpr.Reference) string {
	for n, step := range ref.Path {
		next, ok := jsonval.ChildValue(v, step)
		if ok {
			v = next
			continue
		}
		parent := refexpr.Reference{Kind: ref.Kind, Path: ref.Path[:n]}
		switch v := v.(type) {
		case jsonval.Object:
			if len(v) == 0 {
				return fmt.Sprintf("; %s is empty", parent)
			}
			return diag.DidYouMeanOrListWithIntro(step, jsonval.SortedKeys(v), parent.String()+" has")
		case []any:
			return fmt.Sprintf("; %s has %d elements", parent, len(v))
		}
		return fmt.Sprintf("; %s is of type %s", parent, jsonval.TypeOf(v))
	}
	return ""
}

// outsideSchemaReason says that a closed State schema does not allow a path; "": it does.
func outsideSchemaReason(schema any, path jsonval.Path) string {
	if !jsonschema.SubschemaAt(schema, path).IsForbidden {
		return ""
	}
	text := fmt.Sprintf("%s stands outside the closed State schema",
		refexpr.StateReference(path))
	for n := range path {
		subschema := jsonschema.SubschemaAt(schema, path[:n])
		props := jsonschema.Properties(subschema.Node)
		if _, ok := props[path[n]]; !ok && subschema.IsDescribed {
			return text + diag.DidYouMean(path[n], jsonval.SortedKeys(props))
		}
	}
	return text
}
