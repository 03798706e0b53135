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

// maxDescriptionBytes bounds the description of a tool, and each one within its schema, in bytes.
const maxDescriptionBytes = 8 << 10

// schemaFitter fits one schema of a server.
type schemaFitter struct {
	root             jsonval.Object
	isBroken         bool // the schema does not compile, so every keyword is tried
	notes            []string
	patternStepsLeft *int              // the steps left for the patterns of all servers' tools
	pointerByID      map[string]string // pointers: of parts by $id, of anchors by the base's pointer, # and their name
}

// withUsableSchemas returns the usable part of the spec, and notes on what was left out.
func (s ToolSpec) withUsableSchemas(patternStepsLeft *int) (ToolSpec, []string) {
	var notes []string
	s.Description = clipDescription(s.Description, "its description", &notes)
	if input, ok := fitSchema(s.InputSchema, "", patternStepsLeft, &notes).(jsonval.Object); ok {
		if slices.Contains(jsonschema.Types(input), "object") {
			input = jsonval.WithKey(input, "type", "object")
		} else if t, isGiven := input["type"]; isGiven { // the protocol sends an object all the same
			notes = append(notes, fmt.Sprintf("its type is left out: it is %s, and parameters are an object",
				jsonval.Encode(t)))
			input = jsonval.WithoutKey(input, "type")
		}
		s.InputSchema = withAllParamsDeclared(s.withoutMetaParams(input, &notes), &notes)
	}
	s.OutputSchema = fitSchema(s.OutputSchema, "result", patternStepsLeft, &notes)
	return s, notes
}

func clipDescription(text, label string, notes *[]string) string {
	if len(text) <= maxDescriptionBytes {
		return text
	}
	*notes = append(*notes, fmt.Sprintf("%s has %d bytes and is cut at %d", label, len(text), maxDescriptionBytes))
	return jsonval.Clip(text, maxDescriptionBytes)
}

// withoutMetaParams leaves out parameters whose names begin with _: in a Call those are meta properties. A tool that
// needs one is refused.
func (s ToolSpec) withoutMetaParams(schema jsonval.Object, notes *[]string) jsonval.Object {
	properties := jsonschema.Properties(schema)
	remaining := jsonval.Object{}
	for name, property := range jsonval.Sorted(properties) {
		switch {
		case !strings.HasPrefix(name, "_"):
			remaining[name] = property
		case !s.requiresParam(name):
			*notes = append(*notes, fmt.Sprintf(
				"its optional parameter %s is left out: names that begin with _ are reserved here", name))
		}
	}
	if len(remaining) == len(properties) {
		return schema
	}
	return jsonval.WithKey(schema, "properties", remaining)
}

// withAllParamsDeclared declares the parameters that a schema only requires, or describes only in its alternatives.
// JSON Schema allows undeclared properties, but no Call could give them here.
func withAllParamsDeclared(schema jsonval.Object, notes *[]string) jsonval.Object {
	properties, hasProperties := schema["properties"].(jsonval.Object)
	if _, hasAdditional := schema["additionalProperties"]; !hasProperties || hasAdditional {
		return schema
	}
	allParams := maps.Clone(properties)
	for _, part := range alternativesIn(schema) {
		for name := range jsonval.Sorted(jsonschema.Properties(part)) {
			if _, exists := allParams[name]; !exists && !strings.HasPrefix(name, "_") {
				allParams[name] = jsonval.Object{}
			}
		}
	}
	for _, name := range jsonschema.Required(schema) {
		if _, exists := allParams[name]; !exists && !strings.HasPrefix(name, "_") {
			allParams[name] = jsonval.Object{}
			*notes = append(*notes, fmt.Sprintf("its required parameter %s is not described: only the server checks it",
				jsonval.ClipForError(name)))
		}
	}
	if len(allParams) == len(properties) {
		return schema
	}
	return jsonval.WithKey(schema, "properties", allParams)
}

// alternativesIn are the parts of a schema that describe the same value.
func alternativesIn(schema jsonval.Object) (parts []jsonval.Object) {
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		for _, one := range jsonval.AsList(schema[keyword]) {
			part := jsonval.AsObject(one)
			parts = append(append(parts, part), alternativesIn(part)...)
		}
	}
	return parts
}

func fitSchema(schema any, valuePath string, patternStepsLeft *int, notes *[]string) any {
	root, _ := schema.(jsonval.Object)
	if len(root) == 0 {
		return schema
	}
	f := &schemaFitter{root: root, patternStepsLeft: patternStepsLeft, pointerByID: map[string]string{}}
	f.findIDs(root, "", "")
	stepsBefore := *patternStepsLeft
	fitted := f.fitPart(root, valuePath, "", "")
	_, err := jsonschema.CompileSchema(fitted)
	if err != nil {
		*patternStepsLeft, f.notes, f.isBroken = stepsBefore, nil, true
		fitted = f.fitPart(root, valuePath, "", "")
		if _, err = jsonschema.CompileSchema(fitted); err != nil {
			*patternStepsLeft, f.notes = stepsBefore,
				[]string{fmt.Sprintf("only the server checks %s: %s", describeValuePath(valuePath), err)}
			fitted = outlineSchema(fitted)
		}
	}
	*notes = append(*notes, f.notes...)
	return fitted
}

// outlineSchema reduces a schema to its properties, their descriptions, and which of them are required.
func outlineSchema(schema jsonval.Object) jsonval.Object {
	properties := jsonval.Object{}
	for name, part := range jsonval.Sorted(jsonschema.Properties(schema)) {
		property := jsonval.Object{}
		if text := jsonval.AsText(jsonval.AsObject(part)["description"]); text != "" {
			property["description"] = text
		}
		properties[name] = property
	}
	required := jsonval.ToJSONValue(append([]string{}, jsonschema.Required(schema)...))
	return jsonval.Object{"properties": properties, "required": required}
}

// findIDs records the parts that have an $id, under the names that a $ref may use: the $id itself, or its last step. It
// records anchors too; draft 7 writes them as the fragment of an $id. base is as in fitPart.
func (f *schemaFitter) findIDs(part jsonval.Object, pointer, basePointer string) {
	id, anchor, _ := strings.Cut(jsonval.AsText(part["$id"]), "#")
	names := []string{}
	if id != "" {
		names, basePointer = append(names, id, id[strings.LastIndexByte(id, '/')+1:]), pointer
	}
	for _, name := range []string{anchor, jsonval.AsText(part["$anchor"]), jsonval.AsText(part["$dynamicAnchor"])} {
		if name != "" {
			names = append(names, basePointer+"#"+name)
		}
	}
	for _, name := range names {
		if _, exists := f.pointerByID[name]; !exists {
			f.pointerByID[name] = pointer
		}
	}
	jsonschema.MapSubschemas(part, func(step string, inner any) any {
		f.findIDs(jsonval.AsObject(inner), pointer+step, basePointer)
		return inner
	})
}

// findExternalRef returns a $ref that begins with a scheme, such as https:, and names no part of the schema.
func findExternalRef(schema jsonval.Object) (externalRef string) {
	f := &schemaFitter{pointerByID: map[string]string{}}
	f.findIDs(schema, "", "")
	var find func(step string, part any) any
	find = func(_ string, part any) any {
		object := jsonval.AsObject(part)
		schemaID, _, _ := strings.Cut(jsonval.AsText(object["$ref"]), "#")
		if _, isKnown := f.pointerByID[schemaID]; !isKnown {
			if address, err := url.Parse(schemaID); err == nil && address.IsAbs() {
				externalRef = schemaID
			}
		}
		jsonschema.MapSubschemas(object, find)
		return part
	}
	find("", schema)
	return externalRef
}

// fitPart returns a schema reduced to what can be used. valuePath is its location for people, pointer its location in
// the whole schema. base is the pointer of the innermost part around it that has an $id: references count from there.
func (f *schemaFitter) fitPart(schema jsonval.Object, valuePath, pointer, basePointer string) jsonval.Object {
	fitted := maps.Clone(schema)
	if id := jsonval.AsText(fitted["$id"]); pointer != "" && id != "" {
		if !strings.HasPrefix(id, "#") {
			basePointer = pointer
		}
		delete(fitted, "$id")
	}
	if basePointer != "" { // another part may have the same anchor
		delete(fitted, "$anchor")
	}
	f.fitReference(fitted, basePointer)
	if text, ok := fitted["description"].(string); ok {
		fitted["description"] = clipDescription(text, "the description of "+describeValuePath(valuePath), &f.notes)
	}
	f.fitPattern(fitted, valuePath)
	f.fitPatternProperties(fitted, valuePath)
	f.dropInvalidKeywords(fitted, valuePath)
	return jsonschema.MapSubschemas(fitted, func(step string, inner any) any {
		innerPath := valuePath
		if name, isProperty := strings.CutPrefix(step, "/properties/"); isProperty {
			innerPath = strings.TrimPrefix(valuePath+"."+jsonschema.UnescapePointerStep(name), ".")
		}
		schema, ok := inner.(jsonval.Object)
		if _, isBool := inner.(bool); !ok && !isBool && f.isBroken {
			f.noteOmitted("a schema", innerPath, inner)
			return true
		}
		if !ok {
			return inner
		}
		return f.fitPart(schema, innerPath, pointer+step, basePointer)
	})
}

// dropInvalidKeywords removes, from a schema that does not compile, the keywords that no validator accepts.
func (f *schemaFitter) dropInvalidKeywords(schema jsonval.Object, valuePath string) {
	if !f.isBroken {
		return
	}
	for _, k := range jsonval.SortedKeys(schema) {
		v, exists := schema[k]
		if !exists || jsonschema.IsValidKeyword(f.root, k, v) || jsonschema.RewriteForNewestDraft(schema, k) {
			continue
		}
		delete(schema, k)
		f.noteOmitted(k, valuePath, v)
	}
}

func (f *schemaFitter) noteOmitted(subject, valuePath string, v any) {
	f.notes = append(f.notes, fmt.Sprintf("%s of %s is left out: it cannot be %s", subject,
		describeValuePath(valuePath), jsonval.Clip(jsonval.EncodeToString(v), 100)))
}

func describeValuePath(valuePath string) string {
	if valuePath == "" {
		return "its parameters"
	}
	return valuePath
}

// fitReference replaces a $ref that names a part by its $id or anchor, or that is relative to a part with an $id, by a
// pointer from the root.
func (f *schemaFitter) fitReference(schema jsonval.Object, basePointer string) {
	ref, ok := schema["$ref"].(string)
	if !ok {
		return
	}
	schemaID, fragment, _ := strings.Cut(ref, "#")
	pointer, isKnown := f.pointerByID[schemaID]
	switch {
	case schemaID == "":
		pointer = basePointer
	case !isKnown:
		return
	}
	if fragment == "" || fragment[0] == '/' {
		schema["$ref"] = "#" + pointer + fragment
	} else if anchorPointer, isKnown := f.pointerByID[pointer+"#"+fragment]; isKnown {
		schema["$ref"] = "#" + anchorPointer
	}
}

// fitPattern removes a pattern that Go cannot read: the server checks it, and the LLM reads it in the description.
func (f *schemaFitter) fitPattern(schema jsonval.Object, valuePath string) {
	pattern, ok := schema["pattern"].(string)
	if !ok || f.takeStepsForPattern(pattern) {
		return
	}
	delete(schema, "pattern")
	text := "It matches the regular expression " + pattern + ", which the server checks."
	if len(text) <= maxDescriptionBytes {
		schema["description"] = strings.TrimSpace(jsonval.AsText(schema["description"]) + " " + text)
	}
	f.noteServerChecks("the pattern of "+describeValuePath(valuePath), pattern)
}

// fitPatternProperties removes the patterns of keys that Go cannot read. It then also removes the rules for other keys,
// so that all keys are allowed.
func (f *schemaFitter) fitPatternProperties(schema jsonval.Object, valuePath string) {
	partByPattern := jsonval.AsObject(schema["patternProperties"])
	compilablePatterns := jsonval.Object{}
	for pattern, part := range jsonval.Sorted(partByPattern) {
		if f.takeStepsForPattern(pattern) {
			compilablePatterns[pattern] = part
			continue
		}
		f.noteServerChecks("a pattern of keys of "+describeValuePath(valuePath), pattern)
	}
	if len(compilablePatterns) == len(partByPattern) {
		return
	}
	schema["patternProperties"] = compilablePatterns
	for _, keyword := range []string{"additionalProperties", "unevaluatedProperties"} {
		delete(schema, keyword)
	}
}

func (f *schemaFitter) noteServerChecks(subject, pattern string) {
	f.notes = append(f.notes,
		fmt.Sprintf("only the server checks %s: %s", subject, jsonval.Clip(pattern, 100)))
}

// takeStepsForPattern reports whether Go can compile a pattern, and whether its steps are within the limits.
func (f *schemaFitter) takeStepsForPattern(pattern string) bool {
	steps, err := jsonschema.CountCompiledSteps(pattern)
	if err != nil || steps > jsonschema.MaxServerToolCompiledStepsPerPattern || steps > *f.patternStepsLeft {
		return false
	}
	*f.patternStepsLeft -= steps
	return true
}
