package check

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// lookupNonState returns the value of a Reference to anything but State, or the reason why there is none.
func lookupNonState(view ideafile.View, ref refexpr.Reference) (v any, reason string) {
	payload, ok := view.Payload[ref.Kind]
	if !ok {
		kinds := append(jsonval.SortedKeys(view.Payload), ideafile.TypeState)
		return nil, fmt.Sprintf("reference %s: the context has no %q%s", ref, jsonval.Clip(ref.Kind, 80), diag.DidYouMean(ref.Kind, kinds))
	}
	v, ok = refexpr.LookupIn(payload, ref.Path)
	if ok {
		return v, ""
	}
	return nil, fmt.Sprintf("reference %s: nothing there%s", ref, suggestNearby(payload, ref))
}

// suggestNearby names what is at the point where a path leads nowhere.
func suggestNearby(v any, ref refexpr.Reference) string {
	for n, step := range ref.Path {
		next, ok := jsonval.StepInto(v, step)
		if ok {
			v = next
			continue
		}
		parent := refexpr.Reference{Kind: ref.Kind, Path: ref.Path[:n]}
		switch v := v.(type) {
		case map[string]any:
			if s := diag.DidYouMean(step, jsonval.SortedKeys(v)); s != "" {
				return s
			}
			if len(v) > 0 {
				return fmt.Sprintf("; %s has %s", parent, diag.SomeOf(jsonval.SortedKeys(v)))
			}
			return fmt.Sprintf("; %s is empty", parent)
		case []any:
			return fmt.Sprintf("; %s has %d elements", parent, len(v))
		}
		return fmt.Sprintf("; %s is of type %s", parent, jsonval.TypeOf(v))
	}
	return ""
}

// outsideSchemaText words that a closed State schema does not allow a path.
func outsideSchemaText(schema any, path jsonval.Path) string {
	text := fmt.Sprintf("%s stands outside the closed State schema", refexpr.Reference{Kind: ideafile.TypeState, Path: path})
	for n := range path {
		place := jsonschema.PlaceOf(schema, path[:n])
		node, _ := jsonschema.ResolvePointer(schema, place.Pointer)
		m, _ := node.(map[string]any)
		props, _ := m["properties"].(map[string]any)
		if _, ok := props[path[n]]; !ok && place.Known {
			return text + diag.DidYouMean(path[n], jsonval.SortedKeys(props))
		}
	}
	return text
}
