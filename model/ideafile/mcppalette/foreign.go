package mcppalette

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// Users cannot change a server's schema, and the server checks its own input. So whatever this engine cannot use is
// left out of the schema, with a note, and the rest is used. Examples: a pattern in a dialect that Go lacks, an
// optional parameter whose name has another meaning here, a description too long for a prompt.

// maxDescription bounds the description of a tool, and each one within its schema, in bytes.
const maxDescription = 8 << 10

// schemaFitter fits one schema of a server.
type schemaFitter struct {
	root     jsonval.Object
	isBroken bool // the schema does not compile, so every keyword is tried
	notes    []string
	steps    *int              // the steps left for the patterns of all servers' tools
	ids      map[string]string // pointers: of parts by $id, of anchors by the base's pointer, # and their name
}

// usablePart returns the usable part of the spec, and notes on what was left out.
func (s ToolSpec) usablePart(steps *int) (ToolSpec, []string) {
	var notes []string
	s.Description = clipText(s.Description, "its description", &notes)
	if input, ok := fitSchema(s.InputSchema, "", steps, &notes).(jsonval.Object); ok {
		if slices.Contains(jsonschema.Types(input), "object") {
			input = jsonval.WithKey(input, "type", "object")
		} else if t, isGiven := input["type"]; isGiven { // the protocol sends an object all the same
			notes = append(notes, fmt.Sprintf("its type is left out: it is %s, and parameters are an object",
				jsonval.Encode(t)))
			input = jsonval.WithoutKey(input, "type")
		}
		s.InputSchema = withAllParams(s.withoutMetaParams(input, &notes), &notes)
	}
	s.OutputSchema = fitSchema(s.OutputSchema, "result", steps, &notes)
	return s, notes
}

func clipText(text, what string, notes *[]string) string {
	if len(text) <= maxDescription {
		return text
	}
	*notes = append(*notes, fmt.Sprintf("%s has %d bytes and is cut at %d", what, len(text), maxDescription))
	return jsonval.Clip(text, maxDescription)
}

// withoutMetaParams leaves out parameters whose names begin with _: in a Call those are meta properties. A tool that
// needs one is refused.
func (s ToolSpec) withoutMetaParams(schema jsonval.Object, notes *[]string) jsonval.Object {
	properties := jsonschema.Properties(schema)
	kept := jsonval.Object{}
	for name, property := range jsonval.Sorted(properties) {
		switch {
		case !strings.HasPrefix(name, "_"):
			kept[name] = property
		case !s.needs(name):
			*notes = append(*notes, fmt.Sprintf(
				"its optional parameter %s is left out: names that begin with _ are reserved here", name))
		}
	}
	if len(kept) == len(properties) {
		return schema
	}
	return jsonval.WithKey(schema, "properties", kept)
}

// withAllParams declares the parameters that a schema only requires, or describes only in its alternatives. JSON Schema
// allows undeclared properties, but no Call could give them here.
func withAllParams(schema jsonval.Object, notes *[]string) jsonval.Object {
	properties, isGiven := schema["properties"].(jsonval.Object)
	if _, saysOthers := schema["additionalProperties"]; !isGiven || saysOthers {
		return schema
	}
	all := maps.Clone(properties)
	for _, part := range alternatives(schema) {
		for name := range jsonval.Sorted(jsonschema.Properties(part)) {
			if _, known := all[name]; !known && !strings.HasPrefix(name, "_") {
				all[name] = jsonval.Object{}
			}
		}
	}
	for _, name := range jsonschema.Required(schema) {
		if _, known := all[name]; !known && !strings.HasPrefix(name, "_") {
			all[name] = jsonval.Object{}
			*notes = append(*notes, fmt.Sprintf("its required parameter %s is not described: only the server checks it",
				jsonval.ClipForError(name)))
		}
	}
	if len(all) == len(properties) {
		return schema
	}
	return jsonval.WithKey(schema, "properties", all)
}

// alternatives are the parts of a schema that describe the same value.
func alternatives(schema jsonval.Object) (parts []jsonval.Object) {
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		for _, one := range jsonval.AsList(schema[keyword]) {
			part := jsonval.AsObject(one)
			parts = append(append(parts, part), alternatives(part)...)
		}
	}
	return parts
}

func fitSchema(schema any, place string, steps *int, notes *[]string) any {
	root, _ := schema.(jsonval.Object)
	if len(root) == 0 {
		return schema
	}
	f := &schemaFitter{root: root, steps: steps, ids: map[string]string{}}
	f.findIDs(root, "", "")
	left := *steps
	fitted := f.fitPart(root, place, "", "")
	_, err := jsonschema.CompileSchema(fitted)
	if err != nil {
		*steps, f.notes, f.isBroken = left, nil, true
		fitted = f.fitPart(root, place, "", "")
		if _, err = jsonschema.CompileSchema(fitted); err != nil {
			*steps, f.notes = left, []string{fmt.Sprintf("only the server checks %s: %s", placeName(place), err)}
			fitted = outline(fitted)
		}
	}
	*notes = append(*notes, f.notes...)
	return fitted
}

// outline reduces a schema to its properties, their descriptions, and which of them are required.
func outline(schema jsonval.Object) jsonval.Object {
	properties := jsonval.Object{}
	for name, part := range jsonval.Sorted(jsonschema.Properties(schema)) {
		described := jsonval.Object{}
		if text := jsonval.AsText(jsonval.AsObject(part)["description"]); text != "" {
			described["description"] = text
		}
		properties[name] = described
	}
	required := jsonval.ToJSONValue(append([]string{}, jsonschema.Required(schema)...))
	return jsonval.Object{"properties": properties, "required": required}
}

// findIDs records the parts that have an $id, under the names that a $ref may use: the $id itself, or its last step. It
// records anchors too; draft 7 writes them as the fragment of an $id. base is as in fitPart.
func (f *schemaFitter) findIDs(part jsonval.Object, pointer, base string) {
	id, anchor, _ := strings.Cut(jsonval.AsText(part["$id"]), "#")
	names := []string{}
	if id != "" {
		names, base = append(names, id, id[strings.LastIndexByte(id, '/')+1:]), pointer
	}
	for _, name := range []string{anchor, jsonval.AsText(part["$anchor"]), jsonval.AsText(part["$dynamicAnchor"])} {
		if name != "" {
			names = append(names, base+"#"+name)
		}
	}
	for _, name := range names {
		if _, taken := f.ids[name]; !taken {
			f.ids[name] = pointer
		}
	}
	jsonschema.WithSubschemas(part, func(step string, inner any) any {
		f.findIDs(jsonval.AsObject(inner), pointer+step, base)
		return inner
	})
}

// refToAnotherAddress returns a $ref that begins with a scheme, such as https:, and names no part of the schema.
func refToAnotherAddress(schema jsonval.Object) (found string) {
	f := &schemaFitter{ids: map[string]string{}}
	f.findIDs(schema, "", "")
	var find func(step string, part any) any
	find = func(_ string, part any) any {
		own := jsonval.AsObject(part)
		name, _, _ := strings.Cut(jsonval.AsText(own["$ref"]), "#")
		if _, known := f.ids[name]; !known {
			if at, err := url.Parse(name); err == nil && at.IsAbs() {
				found = name
			}
		}
		jsonschema.WithSubschemas(own, find)
		return part
	}
	find("", schema)
	return found
}

// fitPart returns a schema reduced to what can be used. place is its location for people, pointer its location in the
// whole schema. base is the pointer of the innermost part around it that has an $id: references count from there.
func (f *schemaFitter) fitPart(schema jsonval.Object, place, pointer, base string) jsonval.Object {
	own := maps.Clone(schema)
	if id := jsonval.AsText(own["$id"]); pointer != "" && id != "" {
		if !strings.HasPrefix(id, "#") {
			base = pointer
		}
		delete(own, "$id")
	}
	if base != "" { // another part may have the same anchor
		delete(own, "$anchor")
	}
	f.fitReference(own, base)
	if text, ok := own["description"].(string); ok {
		own["description"] = clipText(text, "the description of "+placeName(place), &f.notes)
	}
	f.fitPattern(own, place)
	f.fitPatternProperties(own, place)
	f.dropUnusable(own, place)
	return jsonschema.WithSubschemas(own, func(step string, inner any) any {
		at := place
		if name, isProperty := strings.CutPrefix(step, "/properties/"); isProperty {
			at = strings.TrimPrefix(place+"."+jsonschema.UnescapePointerStep(name), ".")
		}
		schema, ok := inner.(jsonval.Object)
		if _, isBool := inner.(bool); !ok && !isBool && f.isBroken {
			f.noteLeftOut("a schema", at, inner)
			return true
		}
		if !ok {
			return inner
		}
		return f.fitPart(schema, at, pointer+step, base)
	})
}

// dropUnusable removes, from a schema that does not compile, the keywords that no validator accepts.
func (f *schemaFitter) dropUnusable(own jsonval.Object, place string) {
	if !f.isBroken {
		return
	}
	for _, k := range jsonval.SortedKeys(own) {
		v, there := own[k]
		if !there || jsonschema.IsUsableKeyword(f.root, k, v) || jsonschema.RewriteForNewestDraft(own, k) {
			continue
		}
		delete(own, k)
		f.noteLeftOut(k, place, v)
	}
}

func (f *schemaFitter) noteLeftOut(what, place string, v any) {
	f.notes = append(f.notes, fmt.Sprintf("%s of %s is left out: it cannot be %s", what, placeName(place),
		jsonval.Clip(jsonval.EncodeToString(v), 100)))
}

func placeName(place string) string {
	if place == "" {
		return "its parameters"
	}
	return place
}

// fitReference replaces a $ref that names a part by its $id or anchor, or that is relative to a part with an $id, by a
// pointer from the root.
func (f *schemaFitter) fitReference(own jsonval.Object, base string) {
	ref, ok := own["$ref"].(string)
	if !ok {
		return
	}
	name, fragment, _ := strings.Cut(ref, "#")
	at, known := f.ids[name]
	switch {
	case name == "":
		at = base
	case !known:
		return
	}
	if fragment == "" || fragment[0] == '/' {
		own["$ref"] = "#" + at + fragment
	} else if anchored, known := f.ids[at+"#"+fragment]; known {
		own["$ref"] = "#" + anchored
	}
}

// fitPattern removes a pattern that Go cannot read: the server checks it, and the LLM reads it in the description.
func (f *schemaFitter) fitPattern(own jsonval.Object, place string) {
	pattern, ok := own["pattern"].(string)
	if !ok || f.canCompile(pattern) {
		return
	}
	delete(own, "pattern")
	text := "It matches the regular expression " + pattern + ", which the server checks."
	if len(text) <= maxDescription {
		own["description"] = strings.TrimSpace(jsonval.AsText(own["description"]) + " " + text)
	}
	f.noteServerChecks("the pattern of "+placeName(place), pattern)
}

// fitPatternProperties removes the patterns of keys that Go cannot read. It then also removes the rules for other keys,
// so that all keys are allowed.
func (f *schemaFitter) fitPatternProperties(own jsonval.Object, place string) {
	named := jsonval.AsObject(own["patternProperties"])
	kept := jsonval.Object{}
	for pattern, part := range jsonval.Sorted(named) {
		if f.canCompile(pattern) {
			kept[pattern] = part
			continue
		}
		f.noteServerChecks("a pattern of keys of "+placeName(place), pattern)
	}
	if len(kept) == len(named) {
		return
	}
	own["patternProperties"] = kept
	for _, others := range []string{"additionalProperties", "unevaluatedProperties"} {
		delete(own, others)
	}
}

func (f *schemaFitter) noteServerChecks(what, pattern string) {
	f.notes = append(f.notes,
		fmt.Sprintf("only the server checks %s: %s", what, jsonval.Clip(pattern, 100)))
}

// canCompile reports whether Go can compile a pattern, and whether its steps are within the limits.
func (f *schemaFitter) canCompile(pattern string) bool {
	steps, err := jsonschema.CompiledPatternSteps(pattern)
	if err != nil || steps > jsonschema.MaxStepsPerForeignPattern || steps > *f.steps {
		return false
	}
	*f.steps -= steps
	return true
}
