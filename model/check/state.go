package check

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// checkStates checks every instance's State, and other data that has a schema. Missing properties are no error: Calls
// may write them.
func (c *checker) checkStates() {
	for _, token := range c.instanceTokens {
		view := c.viewOf(token)
		for kind, schema := range jsonval.Sorted(view.SchemaByKind) {
			for _, m := range schemaMismatches(schema, view.PayloadByKind[kind]) {
				location, instanceCount := c.locateValue(kind, token, m.path)
				c.addFinding(diag.Problem{
					JSONPath:  location,
					Message:   fmt.Sprintf("%s %s", refexpr.Reference{Kind: kind, Path: m.path}, m.reason),
					IsWarning: kind != ideafile.TypeState,
				}, []string{token}, instanceCount)
			}
		}
	}
}

// schemaMismatch is a part of a value that does not fit its schema.
type schemaMismatch struct {
	path   jsonval.Path
	reason string
}

// schemaMismatches compares a value with its schema part by part. An object may lack required properties, as they can
// be written later. An array is checked as a whole, and a value in the store not at all.
func schemaMismatches(schema, value any) []schemaMismatch {
	var out []schemaMismatch
	var walk func(jsonval.Path, any)
	walk = func(p jsonval.Path, v any) {
		subschema := jsonschema.SubschemaAt(schema, p)
		if subschema.IsForbidden {
			out = append(out, schemaMismatch{p, "stands outside the closed schema"})
		}
		if _, isHandle := jsonval.AsBlobHandle(v); isHandle || !subschema.IsDescribed || subschema.IsForbidden {
			return
		}
		object, ok := v.(jsonval.Object)
		if !ok {
			if reason := schemaMismatchReason(schema, subschema, v); reason != "" {
				out = append(out, schemaMismatch{p, reason})
			}
			return
		}
		if types := jsonschema.TypesAt(schema, p); types != nil && !slices.Contains(types, "object") {
			out = append(out, schemaMismatch{p, "is of type object; its schema wants " + jsonschema.JoinWithOr(types)})
			return
		}
		for k, e := range jsonval.Sorted(object) {
			walk(p.WithStep(k), e)
		}
	}
	walk(nil, value)
	return out
}

func schemaMismatchReason(schema any, subschema jsonschema.Subschema, v any) string {
	s, err := jsonschema.CompileAt(schema, subschema.Pointer)
	if err != nil || jsonval.ContainsBlobHandle(v) {
		return ""
	}
	if err := s.Validate(v); err != nil {
		return "does not fit its schema: " + err.Error()
	}
	return ""
}

// locateValue returns the place in the file of the value that an instance sees at a path, and how many instances see
// the same. The value is in the instance's own last Message that has one, or else in the last shared one.
func (c *checker) locateValue(kind, token string, p jsonval.Path) (location string, instanceCount int) {
	for _, ownerToken := range []string{token, ""} {
		for _, m := range slices.Backward(c.messages) {
			_, ok := jsonval.ValueAt(m.Payload, p)
			if !ok || m.PayloadKind != kind || m.InstanceToken != ownerToken {
				continue
			}
			path := m.jsonPath()
			if key := m.PayloadKey(); key != "" {
				path = jsonval.JSONPathWithKey(path, key)
			}
			if location = jsonval.JSONPathWithKeys(path, p...); ownerToken != "" {
				return location, 1
			}
			return location, len(c.instanceTokens)
		}
	}
	return "$.context", len(c.instanceTokens)
}
