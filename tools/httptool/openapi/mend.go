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
	pointersByNote map[string][]string // pointersByNote that were changed, by the text of the note
	usableByKey    map[string]bool     // by keyword and value
}

// mendDocument returns a mended copy of a document, and notes on what was mended; no notes if there was nothing to
// mend.
func mendDocument(root any) (mended any, notes []string) {
	m := &mender{document: document{root: root}, pointersByNote: map[string][]string{}, usableByKey: map[string]bool{}}
	mended = m.rewrite(root, "#")
	for words, places := range jsonval.Sorted(m.pointersByNote) {
		others := ""
		if n := len(places) - 1; n > 0 {
			others = fmt.Sprintf(", and %d more", n)
		}
		notes = append(notes, fmt.Sprintf("%s (%s%s)", words, places[0], others))
	}
	return mended, notes
}

func (m *mender) rewrite(root any, pointer string) any {
	return rewriteParts(root, pointer, m.mendPart)
}

// rewriteParts returns a document with changed parts. change gets the last step to a part, the place above it, its own
// place, and the part; it returns false if the parts below are to be visited instead.
func rewriteParts(root any, pointer string, change func(step, above, partPointer string, part any) (any, bool)) any {
	return jsonval.MapMembers(root, func(step string, part any) any {
		partPointer := pointer + "/" + jsonschema.EscapePointerStep(step)
		if changed, done := change(step, pointer, partPointer, part); done {
			return changed
		}
		return rewriteParts(part, partPointer, change)
	})
}

// isSchemaPlace reports whether the value of a key is a schema.
func isSchemaPlace(step, parent string) bool {
	return parent == "#/components/schemas" || step == "schema" && path.Dir(parent) != "#/components"
}

// isData reports whether the value of a key is data, and no part of the document.
func isData(step string) bool {
	return step == "example" || step == "examples" || strings.HasPrefix(step, "x-")
}

func (m *mender) mendPart(step, parent, pointer string, part any) (changed any, done bool) {
	switch {
	case isSchemaPlace(step, parent):
		return m.mendSchema(part, pointer), true
	case step == "examples":
		return m.mendExamples(part, pointer), true
	case isData(step):
		return part, true
	case parent == "#/components":
		return m.rewrite(m.dropDangling(part, pointer), pointer), true
	case parent == "#/paths", parent == "#/webhooks":
		return leaveOutUnreadable[openapi3.PathItem](m, part, pointer), true
	case isOperationPlace(step, parent):
		return leaveOutUnreadable[openapi3.Operation](m, part, pointer), true
	case path.Base(parent) == "responses" && m.danglingRef(part) != "":
		m.note(pointer, "%s is read as an answer of unknown content", part)
		return jsonval.Object{"description": ""}, true
	case path.Base(parent) == "content" && part == nil:
		m.note(pointer, "%s is read as a content of any form", part)
		return jsonval.Object{}, true
	case step == "servers" && jsonval.TypeOf(part) == "object":
		m.note(pointer, "%s is read as a list of one", part)
		return []any{m.rewrite(part, pointer)}, true
	case step == "parameters" && slices.Contains(jsonval.AsList(part), nil):
		m.note(pointer, "%s is left out", nil)
		isThere := func(v any) bool { return v != nil }
		return m.rewrite(jsonval.Filter(jsonval.AsList(part), isThere), pointer), true
	case m.isUnreadableExtra(step, parent, part):
		m.note(pointer, step+" is left out: it cannot be %s", part)
		return nil, true
	case isTextPlace(step, parent):
		return m.mendText(part, pointer), true
	case part == "true", part == "false": // required, deprecated, explode
		m.note(pointer, "%s is read as a flag", part)
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

// dropDangling leaves out the components of a kind that are null, or whose references lead nowhere.
func (m *mender) dropDangling(part any, pointer string) any {
	out, ok := part.(jsonval.Object)
	if !ok || path.Base(pointer) == "schemas" {
		return part
	}
	out = maps.Clone(out)
	maps.DeleteFunc(out, func(name string, component any) bool {
		ref := m.danglingRef(component)
		if ref != "" {
			m.note(pointer+"/"+jsonschema.EscapePointerStep(name), "%s is left out: it "+brokenRefText(ref), component)
		}
		return ref != ""
	})
	return out
}

// danglingRef follows the references of a part. It returns "" if they end at a value, the part's own reference if they
// end at nothing, the last one if that leaves the document, and "null" for a null part.
func (m *mender) danglingRef(part any) string {
	firstRef := ""
	for range maxRefChain {
		ref, _ := jsonval.AsObject(part)["$ref"].(string)
		firstRef = cmp.Or(firstRef, ref)
		switch {
		case part == nil:
			return cmp.Or(firstRef, "null")
		case ref == "":
			return ""
		case isOutsideRef(ref):
			return ref
		}
		part, _ = m.resolveRef(ref)
	}
	return firstRef
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
	mended := m.rewrite(part, pointer)
	err := typeError(json.Unmarshal(jsonval.Encode(mended), new(T)))
	if ref := m.danglingRef(part); part != nil && ref != "" {
		err = fmt.Errorf("%s %s", ref, brokenRefText(ref))
	}
	rewriteParts(mended, pointer, func(step, above, _ string, inner any) (any, bool) {
		isListed := path.Base(above) == "parameters" || step == "requestBody" && inner != nil
		if ref := m.danglingRef(inner); isListed && ref != "" && err == nil {
			err = fmt.Errorf("%s %s", ref, brokenRefText(ref))
		}
		return inner, isSchemaPlace(step, above) || isData(step)
	})
	if err == nil {
		return mended
	}
	words := "it is left out: " + err.Error()
	m.pointersByNote[words] = append(m.pointersByNote[words], pointer)
	return nil
}

var wrongTypePattern = regexp.MustCompile(
	`cannot unmarshal (\w+) into (?:field \w+\.(\w+)|value) of type (?:\[\]|map\[string\])?(?:openapi3\.)?(\w+)`)

// typeError rewords the library's error about a value of the wrong type, and leaves any other error unchanged.
func typeError(err error) error {
	if err == nil {
		return nil
	}
	found := wrongTypePattern.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	return fmt.Errorf("its %s may not be of type %s", cmp.Or(found[2], found[3]), found[1])
}

// isOperationPlace reports whether the value of a key is an operation.
func isOperationPlace(step, parent string) bool {
	return path.Dir(parent) == "#/paths" && slices.Contains(methods, strings.ToUpper(step))
}

// isUnreadableExtra reports whether a part that is not used has another form than the library can read.
func (m *mender) isUnreadableExtra(step, parent string, part any) bool {
	inOperation := isOperationPlace(path.Base(parent), path.Dir(parent))
	inAnswer := path.Base(path.Dir(parent)) == "responses"
	object, isObject := part.(jsonval.Object)
	isNoObject := func(v any) bool { return jsonval.TypeOf(v) != "object" || m.danglingRef(v) != "" }
	switch {
	case part == nil:
		return false
	case step == "tags" && inOperation:
		list, isList := part.([]any)
		return !isList || slices.ContainsFunc(list, func(v any) bool { return !isNoObject(v) })
	case step == "externalDocs" && (inOperation || parent == "#"):
		return !isObject
	case step == "callbacks" && inOperation, (step == "links" || step == "headers") && inAnswer:
		return !isObject || slices.ContainsFunc(slices.Collect(maps.Values(object)), isNoObject)
	}
	return false
}

func (m *mender) mendText(part any, pointer string) any {
	switch part := part.(type) {
	case json.Number, bool:
		m.note(pointer, "%s is read as a text", part)
		return jsonval.EncodeToString(part)
	case string:
		return part
	}
	return m.rewrite(part, pointer)
}

// mendExamples mends the examples of an operation. They are an object by name, not a list as in schemas.
func (m *mender) mendExamples(part any, pointer string) any {
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

func (m *mender) mendSchema(part any, pointer string) any {
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
	return jsonschema.MapSubschemas(out, func(step string, inner any) any { return m.mendSchema(inner, pointer+step) })
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
	_, isObject := v.(jsonval.Object)
	list, isList := v.([]any)
	switch {
	case v == nil, strings.HasPrefix(k, "$"), strings.HasPrefix(k, "x-"), slices.Contains(anyValueKeywords, k),
		isText && slices.Contains(textKeywords, k), isFlag && strings.HasPrefix(k, "exclusive"):
		return true
	case isObject && k != "patternProperties" && (slices.Contains(mapKeywords, k) || slices.Contains(subKeywords, k)):
		return true
	case isList && slices.Contains(listKeywords, k):
		return len(list) > 0
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
