package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// mender leaves out of the schemas of a document what no schema can say, such as minLength -1, or what Swagger 2 said
// in another way. The library refuses the document for it, and the check of a Tool every operation with such a schema.
type mender struct {
	places map[string][]string // of what was left out or changed, by the words for it
	usable map[string]bool     // by keyword and value
}

// mend returns a mended copy of a document, and notes on what was mended: none if there was nothing.
func mend(root any) (mended any, notes []string) {
	m := &mender{places: map[string][]string{}, usable: map[string]bool{}}
	mended = walkSchemas(root, "#", m.schema)
	for words, places := range jsonval.Sorted(m.places) {
		more := ""
		if n := len(places) - 1; n > 0 {
			more = fmt.Sprintf(", and %d more", n)
		}
		notes = append(notes, fmt.Sprintf("%s (%s%s)", words, places[0], more))
	}
	return mended, notes
}

// walkSchemas returns a document with its schemas changed: under the key "schema", and among the components. A pointer
// is the place of a part.
func walkSchemas(part any, pointer string, change func(schema any, pointer string) any) any {
	return jsonval.WithMembers(part, func(step string, inner any) any {
		at := pointer + "/" + jsonschema.EscapePointerStep(step)
		switch {
		case pointer == "#/components/schemas", step == "schema" && path.Dir(pointer) != "#/components":
			return change(inner, at)
		case step == "example", step == "examples", strings.HasPrefix(step, "x-"):
			return inner
		}
		return walkSchemas(inner, at, change)
	})
}

func (m *mender) schema(part any, pointer string) any {
	if _, isBool := part.(bool); isBool || part == nil {
		return part
	}
	schema, ok := part.(jsonval.Object)
	if !ok {
		m.note(pointer, "%s is left out: it is no schema", part)
		return jsonval.Object{}
	}
	own := maps.Clone(schema)
	for _, k := range jsonval.SortedKeys(schema) {
		v, there := own[k]
		switch {
		case !there, m.isUsable(k, v), jsonschema.RewriteForNewestDraft(own, k):
		case k == "type" && v == "file":
			own["type"], own["format"] = "string", formatFile
			m.note(pointer, `type %s is read as that of a string`, v)
		default:
			delete(own, k)
			if k == "patternProperties" { // what it allowed is allowed still
				delete(own, "additionalProperties")
				delete(own, "unevaluatedProperties")
			}
			m.note(pointer, k+" is left out: it cannot be %s", v)
		}
	}
	return jsonschema.WithSubschemas(own, func(step string, inner any) any { return m.schema(inner, pointer+step) })
}

func (m *mender) note(pointer, words string, v any) {
	words = fmt.Sprintf(words, jsonval.Clip(jsonval.EncodeToString(v), 100))
	m.places[words] = append(m.places[words], pointer)
}

// Most keywords of a document are these: nothing is compiled for them.
var (
	ofText     = []string{"title", "description", "format", "pattern"}
	ofAnyValue = []string{"default", "const", "example", "examples"}
)

// isUsable reports whether both the library and a validator can read a keyword. What converting changes can be read.
func (m *mender) isUsable(k string, v any) bool {
	_, isText := v.(string)
	_, isFlag := v.(bool)
	_, isObject := v.(jsonval.Object)
	list, isList := v.([]any)
	switch {
	case v == nil, strings.HasPrefix(k, "$"), strings.HasPrefix(k, "x-"), slices.Contains(ofAnyValue, k),
		isText && slices.Contains(ofText, k), isFlag && strings.HasPrefix(k, "exclusive"):
		return true
	case isObject && k != "patternProperties" && (slices.Contains(ofSchemas, k) || slices.Contains(ofSchema, k)):
		return true
	case isList && slices.Contains(ofLists, k):
		return len(list) > 0
	case isList && k == "required":
		v = jsonval.AppendNew([]any(nil), list...)
	}
	key := k + " " + jsonval.EncodeToString(v)
	known, ok := m.usable[key]
	if !ok {
		text := jsonval.Encode(jsonval.Object{k: v})
		known = json.Unmarshal(text, new(openapi3.Schema)) == nil && jsonschema.IsUsableKeyword(nil, k, v)
		m.usable[key] = known
	}
	return known
}
