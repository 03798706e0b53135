package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"processidea/internal/yamlvalue"
	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// document is an OpenAPI document as it is written. The library only validates it: it refuses a whole document for one
// value of another type, decodes numbers into float64, which would change an id of sixteen digits in an enum, and drops
// null values.
type document struct {
	root        jsonval.Object
	isVersion30 bool
	notes       []string
	// minNodesByRef is the minimum size of the schema behind a reference, by the converter's hidden and the reference.
	// A schema that was too large before is not followed again.
	minNodesByRef map[string]int
	// subtypesByRef has the result of buildSubtypesSchema by reference.
	subtypesByRef          map[string]jsonval.Object
	isUsableByKeywordValue map[string]bool // by keyword and value
	placedFieldCount       int             // how many fields have got a place
}

// maxValidatedBytes bounds the documents that are validated as a whole, in bytes: the validator follows every path to a
// schema, and schemas that refer to each other have too many paths.
const maxValidatedBytes = 1 << 20

// loadDocument reads a decoded document. size is its size in bytes.
func loadDocument(v any, byteCount int) (*document, error) {
	root, ok := v.(jsonval.Object)
	if !ok {
		return nil, fmt.Errorf("it is no OpenAPI document, but %s: %s", jsonval.TypeOf(v),
			jsonval.Clip(jsonval.EncodeToString(v), 100))
	}
	version := textOf(root["openapi"])
	hasVersion := func(number string) bool { return strings.HasPrefix(version+".", number+".") }
	switch {
	case root["swagger"] != nil && version == "":
		return nil, errors.New("it is of Swagger 2.0; want OpenAPI 3.0 or 3.1")
	case version == "":
		return nil, errors.New("it names no version of OpenAPI; want 3.0 or 3.1")
	case !slices.ContainsFunc([]string{"3.0", "3.1", "3.2"}, hasVersion) && version != "3":
		return nil, fmt.Errorf("it is of OpenAPI %s; want 3.0 or 3.1", jsonval.Clip(version, 20))
	}
	d := &document{root: root, isVersion30: hasVersion("3.0") || version == "3", minNodesByRef: map[string]int{},
		subtypesByRef: map[string]jsonval.Object{}, isUsableByKeywordValue: map[string]bool{}}
	d.noteIfInvalid(byteCount)
	return d, nil
}

// noteIfInvalid notes that the document is not valid. An invalid example or pattern does not prevent calling an
// operation, and a reference that leaves the document only prevents calling the operations that need it.
func (d *document) noteIfInvalid(byteCount int) {
	loader := openapi3.NewLoader() // by default it loads no other files
	doc, err := loader.LoadFromData(jsonval.Encode(d.root))
	switch {
	case err != nil && strings.Contains(err.Error(), "disallowed external reference"):
		return
	case byteCount > maxValidatedBytes:
		d.notes = append(d.notes,
			fmt.Sprintf("the document is larger than %d KB and was not checked", maxValidatedBytes>>10))
		return
	case err == nil:
		err = doc.Validate(loader.Context, openapi3.DisableExamplesValidation(),
			openapi3.DisableSchemaDefaultsValidation(), openapi3.DisableSchemaPatternValidation(),
			openapi3.AllowExtraSiblingFields("pathItems", jsonschema.OrderKey))
	}
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		line, _, _ = strings.Cut(line, ", yaml error")
		d.notes = append(d.notes, "the document is not valid: "+line)
	}
}

// outsideRefError means that an operation needs something from another document.
type outsideRefError struct{ ref string }

func (e outsideRefError) Error() string {
	return fmt.Sprintf("%q leaves the document: nothing is ever loaded; put all of it into one document, and refer to "+
		"it as #/…", e.ref)
}

// decodeDocument reads a document, JSON or YAML, as a JSON value.
func decodeDocument(data []byte) (any, error) {
	if err := yamlvalue.CheckNodeCount(data); err != nil {
		return nil, err
	}
	v, keyOrder, err := jsonval.DecodeWithKeyOrder(bytes.TrimPrefix(data, []byte("\uFEFF")),
		jsonval.DecodeLimits{MaxDepth: 200, MaxNumberBytes: 400})
	if err != nil {
		var problem *diag.Problem
		if v, keyOrder, problem = yamlvalue.DecodeLenient(data); problem != nil {
			return nil, errors.New(strings.TrimPrefix(problem.JSONPath+": "+problem.Message, "$: "))
		}
	}
	storeKeyOrder(v, "#", keyOrder)
	return v, nil
}

// storeKeyOrder stores in the schemas of a document the order in which their properties were written.
func storeKeyOrder(root any, pointer string, keyOrder jsonval.KeyOrder) {
	jsonval.MapMembers(root, func(step string, part any) any {
		switch {
		case pointer == "#/components/schemas", step == "schema" && path.Dir(pointer) != "#/components":
			jsonschema.StoreSourceKeyOrder(part, keyOrder)
		case step == "example", step == "examples", strings.HasPrefix(step, "x-"): // data, and no part of the document
		default:
			storeKeyOrder(part, pointer+"/"+step, keyOrder)
		}
		return part
	})
}

// textOf returns a text. In YAML, hardly anybody writes quotes around a version or another text that reads as a number.
func textOf(v any) string {
	switch jsonval.TypeOf(v) {
	case "number", "boolean":
		return jsonval.EncodeToString(v)
	}
	return jsonval.AsText(v)
}

// isTrue reports whether a flag is set, with or without quotes.
func isTrue(v any) bool { return v == true || v == "true" }

// resolveRef follows a reference within the document.
func (d *document) resolveRef(ref string) (any, error) {
	pointer, isLocal := strings.CutPrefix(ref, "#")
	if !isLocal {
		return nil, outsideRefError{ref}
	}
	if pointer, err := url.PathUnescape(pointer); err == nil {
		if v, ok := jsonschema.ResolvePointer(d.root, pointer); ok {
			return v, nil
		}
	}
	return nil, fmt.Errorf("%q finds nothing", ref)
}

// resolveObject follows the references at the top of a part of the document. It is nil for a part that is no object.
func (d *document) resolveObject(part any) (jsonval.Object, error) {
	object := jsonval.AsObject(part)
	for range maxRefChain {
		ref, isRef := object["$ref"].(string)
		if !isRef {
			break
		}
		target, err := d.resolveRef(ref)
		if object = jsonval.AsObject(target); err == nil && object == nil {
			err = fmt.Errorf("%q finds nothing", ref)
		}
		if err != nil {
			return nil, err
		}
	}
	return object, nil
}

// valueAt follows keys, one after the other, from a value, resolving references; nil if there is no value.
func (d *document) valueAt(from any, keys ...string) any {
	for _, key := range keys {
		part, _ := d.resolveObject(from)
		from = part[key]
	}
	return from
}
