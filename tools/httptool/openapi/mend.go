package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// mender leaves out of schemas what no schema can contain, such as minLength -1, and rewrites forms of Swagger 2.
// Without it, the check of a Tool would refuse every operation with such a schema.
type mender struct {
	document
	pointersByNote map[string][]string // places that were changed, by the text of the note
	usableByKey    map[string]bool     // by keyword and value
}

// mendDocument returns a copy of a document with mended schemas, and notes on what was mended; no notes if there was
// nothing to mend.
func mendDocument(v any) (mended any, notes []string) {
	m := &mender{document: document{root: jsonval.AsObject(v)}, pointersByNote: map[string][]string{},
		usableByKey: map[string]bool{}}
	mended = rewriteSchemas(v, "#", m.mendSchema)
	for words, places := range jsonval.Sorted(m.pointersByNote) {
		others := ""
		if n := len(places) - 1; n > 0 {
			others = fmt.Sprintf(", and %d more", n)
		}
		notes = append(notes, fmt.Sprintf("%s (%s%s)", words, places[0], others))
	}
	return mended, notes
}

func (m *mender) mendSchema(pointer string, part any) any {
	if _, isBool := part.(bool); isBool {
		return part
	}
	schema, ok := part.(jsonval.Object)
	if !ok {
		m.note(pointer, "%s is left out: it is no schema", part)
		return jsonval.Object{}
	}
	out := maps.Clone(schema)
	if ref, ok := schema["$ref"].(string); ok && strings.HasPrefix(ref, "#") {
		if _, err := m.resolveRef(ref); err != nil {
			delete(out, "$ref")
			m.note(pointer, "$ref is left out: %s finds nothing", ref)
		}
	}
	for _, k := range jsonval.SortedKeys(schema) {
		v, exists := out[k]
		switch {
		case !exists, m.isUsable(k, v), jsonschema.RewriteForNewestDraft(out, k):
		case k == "type" && v == "file":
			out["type"], out["format"] = "string", formatFile
			m.note(pointer, `type %s is read as that of a string`, v)
		default:
			delete(out, k)
			if k == "patternProperties" { // so that what it allowed stays allowed
				delete(out, "additionalProperties")
				delete(out, "unevaluatedProperties")
			}
			m.note(pointer, k+" is left out: it cannot be %s", v)
		}
	}
	return jsonschema.MapSubschemas(out, func(step string, inner any) any { return m.mendSchema(pointer+step, inner) })
}

func (m *mender) note(pointer, text string, v any) {
	text = fmt.Sprintf(text, jsonval.Clip(jsonval.EncodeToString(v), 100))
	m.pointersByNote[text] = append(m.pointersByNote[text], pointer)
}

// Most keywords of a document are among these, which need no compilation.
var (
	textKeywords     = []string{"title", "description", "format", "pattern"}
	anyValueKeywords = []string{"default", "const", "example", "examples"}
)

// isUsable reports whether both the library and a validator can read a keyword. Keywords that the converter rewrites
// count as readable.
func (m *mender) isUsable(k string, v any) bool {
	_, isText := v.(string)
	_, isFlag := v.(bool)
	list, isList := v.([]any)
	holdsSchemas := false
	jsonschema.MapSubschemas(jsonval.Object{k: v}, func(string, any) any { holdsSchemas = true; return nil })
	switch {
	case v == nil, strings.HasPrefix(k, "$"), strings.HasPrefix(k, "x-"), slices.Contains(anyValueKeywords, k),
		isText && slices.Contains(textKeywords, k), isFlag && strings.HasPrefix(k, "exclusive"):
		return true
	case holdsSchemas && k != "patternProperties":
		return k != "items" || !isList
	case isList && k == "required":
		v = jsonval.AppendNew([]any(nil), list...)
	}
	key := k + " " + jsonval.EncodeToString(v)
	isAccepted, ok := m.usableByKey[key]
	if !ok {
		text := jsonval.Encode(jsonval.Object{k: v})
		isAccepted = json.Unmarshal(text, new(openapi3.Schema)) == nil && jsonschema.IsValidKeyword(nil, k, v)
		m.usableByKey[key] = isAccepted
	}
	return isAccepted
}
