package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// mender repairs a document. In schemas it leaves out what no schema can contain, such as minLength -1, and rewrites
// forms of Swagger 2. Elsewhere it converts values of the wrong type, such as version: 1.0. Without it, the library
// would refuse the whole document, and the check of a Tool every operation with such a schema.
type mender struct {
	document
	places map[string][]string // places that were changed, by the text of the note
	usable map[string]bool     // by keyword and value
}

// mend returns a mended copy of a document, and notes on what was mended; no notes if there was nothing to mend.
func mend(root any) (mended any, notes []string) {
	m := &mender{document: document{root: root}, places: map[string][]string{}, usable: map[string]bool{}}
	mended = m.walk(root, "#")
	for words, places := range jsonval.Sorted(m.places) {
		more := ""
		if n := len(places) - 1; n > 0 {
			more = fmt.Sprintf(", and %d more", n)
		}
		notes = append(notes, fmt.Sprintf("%s (%s%s)", words, places[0], more))
	}
	return mended, notes
}

func (m *mender) walk(root any, pointer string) any { return walk(root, pointer, m.part) }

// walk returns a document with changed parts. change gets the last step to a part, the place above it, its own place,
// and the part; it returns false if the parts below are to be visited instead.
func walk(root any, pointer string, change func(step, above, at string, part any) (any, bool)) any {
	return jsonval.WithMembers(root, func(step string, part any) any {
		at := pointer + "/" + jsonschema.EscapePointerStep(step)
		if changed, done := change(step, pointer, at, part); done {
			return changed
		}
		return walk(part, at, change)
	})
}

// isSchemaPlace reports whether the value of a key is a schema.
func isSchemaPlace(step, above string) bool {
	return above == "#/components/schemas" || step == "schema" && path.Dir(above) != "#/components"
}

// isData reports whether the value of a key is data, and no part of the document.
func isData(step string) bool {
	return step == "example" || step == "examples" || strings.HasPrefix(step, "x-")
}

func (m *mender) part(step, above, at string, part any) (changed any, done bool) {
	switch {
	case isSchemaPlace(step, above):
		return m.schema(part, at), true
	case step == "examples":
		return m.examples(part, at), true
	case isData(step):
		return part, true
	case above == "#/components":
		return m.walk(m.withoutDangling(part, at), at), true
	case above == "#/paths", above == "#/webhooks":
		return leaveOutUnreadable[openapi3.PathItem](m, part, at), true
	case isOperationPlace(step, above):
		return leaveOutUnreadable[openapi3.Operation](m, part, at), true
	case path.Base(above) == "responses" && m.danglingRef(part) != "":
		m.note(at, "%s is read as an answer of unknown content", part)
		return jsonval.Object{"description": ""}, true
	case path.Base(above) == "content" && part == nil:
		m.note(at, "%s is read as a content of any form", part)
		return jsonval.Object{}, true
	case step == "servers" && jsonval.TypeOf(part) == "object":
		m.note(at, "%s is read as a list of one", part)
		return []any{m.walk(part, at)}, true
	case step == "parameters" && slices.Contains(jsonval.AsList(part), nil):
		m.note(at, "%s is left out", nil)
		isThere := func(v any) bool { return v != nil }
		return m.walk(jsonval.Filter(jsonval.AsList(part), isThere), at), true
	case m.isOddBeside(step, above, part):
		m.note(at, step+" is left out: it cannot be %s", part)
		return nil, true
	case isTextPlace(step, above):
		return m.text(part, at), true
	case part == "true", part == "false": // required, deprecated, explode
		m.note(at, "%s is read as a flag", part)
		return part == "true", true
	}
	return nil, false
}

// isTextPlace reports whether the value of a key is a text, unless it is an object: parts of a document have names of
// their own.
func isTextPlace(step, pointer string) bool {
	switch step {
	case "openapi", "title", "version", "description", "summary", "name", "operationId", "url":
		return true
	case "default":
		return path.Base(path.Dir(pointer)) == "variables" // of a server
	}
	return path.Base(pointer) == "tags" || path.Base(pointer) == "enum"
}

// withoutDangling leaves out the components of a kind that are null, or whose references lead nowhere.
func (m *mender) withoutDangling(part any, pointer string) any {
	own, ok := part.(jsonval.Object)
	if !ok || path.Base(pointer) == "schemas" {
		return part
	}
	own = maps.Clone(own)
	maps.DeleteFunc(own, func(name string, component any) bool {
		ref := m.danglingRef(component)
		if ref != "" {
			m.note(pointer+"/"+jsonschema.EscapePointerStep(name), "%s is left out: it "+brokenRefText(ref), component)
		}
		return ref != ""
	})
	return own
}

// danglingRef follows the references of a part. It returns "" if they end at a value, the part's own reference if they
// end at nothing, the last one if that leaves the document, and "null" for a null part.
func (m *mender) danglingRef(part any) string {
	first := ""
	for range maxChain {
		ref, _ := jsonval.AsObject(part)["$ref"].(string)
		first = cmp.Or(first, ref)
		switch {
		case part == nil:
			return cmp.Or(first, "null")
		case ref == "":
			return ""
		case isOutsideRef(ref):
			return ref
		}
		part, _ = m.find(ref)
	}
	return first
}

func brokenRefText(ref string) string {
	if isOutsideRef(ref) && ref != "null" {
		return "leaves the document: nothing is ever loaded"
	}
	return "leads nowhere"
}

// leaveOutUnreadable leaves out an operation, or a path, in which a value has a type that the library cannot read, or a
// reference leads nowhere.
func leaveOutUnreadable[T any](m *mender, part any, pointer string) any {
	mended := m.walk(part, pointer)
	err := typeError(json.Unmarshal(jsonval.Encode(mended), new(T)))
	if ref := m.danglingRef(part); part != nil && ref != "" {
		err = fmt.Errorf("%s %s", ref, brokenRefText(ref))
	}
	walk(mended, pointer, func(step, above, _ string, inner any) (any, bool) {
		listed := path.Base(above) == "parameters" || step == "requestBody" && inner != nil
		if ref := m.danglingRef(inner); listed && ref != "" && err == nil {
			err = fmt.Errorf("%s %s", ref, brokenRefText(ref))
		}
		return inner, isSchemaPlace(step, above) || isData(step)
	})
	if err == nil {
		return mended
	}
	words := "it is left out: " + err.Error()
	m.places[words] = append(m.places[words], pointer)
	return nil
}

var wrongType = regexp.MustCompile(
	`cannot unmarshal (\w+) into (?:field \w+\.(\w+)|value) of type (?:\[\]|map\[string\])?(?:openapi3\.)?(\w+)`)

// typeError rewords the library's error about a value of the wrong type, and leaves any other error unchanged.
func typeError(err error) error {
	if err == nil {
		return nil
	}
	found := wrongType.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	return fmt.Errorf("its %s may not be of type %s", cmp.Or(found[2], found[3]), found[1])
}

// isOperationPlace reports whether the value of a key is an operation.
func isOperationPlace(step, above string) bool {
	return path.Dir(above) == "#/paths" && slices.Contains(methods, strings.ToUpper(step))
}

// isOddBeside reports whether a part that is not used has another form than the library can read.
func (m *mender) isOddBeside(step, above string, part any) bool {
	inOperation := isOperationPlace(path.Base(above), path.Dir(above))
	inAnswer := path.Base(path.Dir(above)) == "responses"
	object, isObject := part.(jsonval.Object)
	isNoObject := func(v any) bool { return jsonval.TypeOf(v) != "object" || m.danglingRef(v) != "" }
	switch {
	case part == nil:
		return false
	case step == "tags" && inOperation:
		list, isList := part.([]any)
		return !isList || slices.ContainsFunc(list, func(v any) bool { return !isNoObject(v) })
	case step == "externalDocs" && (inOperation || above == "#"):
		return !isObject
	case step == "callbacks" && inOperation, (step == "links" || step == "headers") && inAnswer:
		return !isObject || slices.ContainsFunc(slices.Collect(maps.Values(object)), isNoObject)
	}
	return false
}

func (m *mender) text(part any, pointer string) any {
	switch part := part.(type) {
	case json.Number, bool:
		m.note(pointer, "%s is read as a text", part)
		return jsonval.EncodeToString(part)
	case string:
		return part
	}
	return m.walk(part, pointer)
}

// examples mends the examples of an operation. They are an object by name, not a list as in schemas.
func (m *mender) examples(part any, pointer string) any {
	if list, ok := part.([]any); ok {
		m.note(pointer, "examples is left out: it cannot be %s", list)
		return jsonval.Object{}
	}
	if object, ok := part.(jsonval.Object); ok {
		object = maps.Clone(object)
		maps.DeleteFunc(object, func(name string, example any) bool {
			ref := m.danglingRef(example)
			if ref != "" {
				m.note(pointer, "an example is left out: %s "+brokenRefText(ref), ref)
			}
			return ref != ""
		})
		return object
	}
	return part
}

func (m *mender) schema(part any, pointer string) any {
	if _, isBool := part.(bool); isBool {
		return part
	}
	schema, ok := part.(jsonval.Object)
	if !ok {
		m.note(pointer, "%s is left out: it is no schema", part)
		return jsonval.Object{}
	}
	own := maps.Clone(schema)
	if ref, ok := schema["$ref"].(string); ok && strings.HasPrefix(ref, "#") {
		if _, err := m.find(ref); err != nil {
			delete(own, "$ref")
			m.note(pointer, "$ref is left out: %s finds nothing", ref)
		}
	}
	for _, k := range jsonval.SortedKeys(schema) {
		v, there := own[k]
		switch {
		case !there, m.isUsable(k, v), jsonschema.RewriteForNewestDraft(own, k):
		case k == "type" && v == "file":
			own["type"], own["format"] = "string", formatFile
			m.note(pointer, `type %s is read as that of a string`, v)
		default:
			delete(own, k)
			if k == "patternProperties" { // so that what it allowed stays allowed
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

// Most keywords of a document are among these, which need no compilation.
var (
	ofText     = []string{"title", "description", "format", "pattern"}
	ofAnyValue = []string{"default", "const", "example", "examples"}
)

// isUsable reports whether both the library and a validator can read a keyword. Keywords that the converter rewrites
// count as readable.
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
