package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-openapi/jsonpointer"

	"processidea/internal/yamlvalue"
	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// document is an OpenAPI document, typed and as written. Schemas are taken from the written form, because the library
// that reads documents decodes numbers into float64, which would change an id of sixteen digits in an enum, and drops
// null values.
type document struct {
	*openapi3.T
	root  any
	notes []string
	// minNodesByRef is the minimum size of the schema behind a reference, by the converter's hidden and the reference.
	// A schema that was too large before is not followed again.
	minNodesByRef map[string]int
	// subtypesByRef has the result of findSubtypes by reference.
	subtypesByRef map[string]jsonval.Object
	fieldCount    int // how many fields have got a place
}

// maxValidated bounds the documents that are validated as a whole, in bytes: the validator follows every path to a
// schema, and schemas that refer to each other have too many paths.
const maxValidated = 1 << 20

// loadDocument reads a decoded document. size is its size in bytes.
func loadDocument(root any, size int) (*document, error) {
	if _, ok := root.(jsonval.Object); !ok {
		return nil, fmt.Errorf("it is no OpenAPI document, but %s: %s", jsonval.TypeOf(root),
			jsonval.Clip(jsonval.EncodeToString(root), 100))
	}
	loader := openapi3.NewLoader() // by default it loads no other files
	doc, err := loader.LoadFromData(jsonval.Encode(root))
	if isOutside(err) { // schemas are taken from the written form anyway
		doc, err = loader.LoadFromData(jsonval.Encode(dropOutsideRefs(root)))
	}
	switch {
	case isOutside(err):
		return nil, fmt.Errorf("%w: nothing is loaded from elsewhere; put all of it into one document, and refer to "+
			"it as #/…", err)
	case err != nil:
		return nil, typeError(err)
	}
	if !doc.IsOpenAPI30() && !doc.IsOpenAPI31OrLater() {
		if _, swagger := doc.Extensions["swagger"]; swagger {
			return nil, errors.New("it is of Swagger 2.0; want OpenAPI 3.0 or 3.1")
		}
		if doc.OpenAPI == "" {
			return nil, errors.New("it names no version of OpenAPI; want 3.0 or 3.1")
		}
		return nil, fmt.Errorf("it is of OpenAPI %s; want 3.0 or 3.1", jsonval.Clip(doc.OpenAPI, 20))
	}
	d := &document{T: doc, root: root, minNodesByRef: map[string]int{}, subtypesByRef: map[string]jsonval.Object{}}
	// An invalid example or pattern does not prevent calling an operation.
	if size > maxValidated {
		d.notes = append(d.notes,
			fmt.Sprintf("the document is larger than %d KB and was not checked",
				maxValidated>>10))
	} else if err := doc.Validate(loader.Context, openapi3.DisableExamplesValidation(),
		openapi3.DisableSchemaDefaultsValidation(), openapi3.DisableSchemaPatternValidation(),
		openapi3.AllowExtraSiblingFields("pathItems", jsonschema.OrderKey)); err != nil {
		d.notes = append(d.notes, "the document is not valid: "+firstLine(err.Error()))
	}
	return d, nil
}

// isOutside reports whether an error of the library is about a reference that leaves the document.
func isOutside(err error) bool {
	return err != nil && strings.Contains(err.Error(), "disallowed external reference")
}

// dropOutsideRefs returns a document whose schemas have no references out of the document.
func dropOutsideRefs(root any) any {
	var dropRefs func(_ string, schema any) any
	dropRefs = func(_ string, schema any) any {
		out := maps.Clone(jsonval.AsObject(schema))
		if out == nil {
			return schema
		}
		if isOutsideRef(out["$ref"]) {
			delete(out, "$ref")
		}
		delete(out, "discriminator") // it names schemas too
		return jsonschema.MapSubschemas(out, dropRefs)
	}
	return rewriteParts(root, "#", func(step, above, at string, part any) (any, bool) {
		if isSchemaPlace(step, above) {
			return dropRefs(at, part), true
		}
		return part, isData(step)
	})
}

func isOutsideRef(ref any) bool {
	text, ok := ref.(string)
	return ok && !strings.HasPrefix(text, "#")
}

// errOutside means that an operation needs something from another document.
type errOutside struct{ ref string }

func (e errOutside) Error() string {
	return fmt.Sprintf("%q leaves the document: nothing is ever loaded", e.ref)
}

// decodeDocument reads a document, JSON or YAML, as a JSON value.
func decodeDocument(data []byte) (any, error) {
	v, keyOrder, err := jsonval.DecodeInOrder(bytes.TrimPrefix(data, []byte("\uFEFF")),
		jsonval.DecodeLimits{MaxDepth: 200, MaxNumberLen: 400})
	if err != nil {
		var problem *diag.Problem
		if v, keyOrder, problem = yamlvalue.DecodeForeign(data); problem != nil {
			return nil, errors.New(strings.TrimPrefix(problem.JSONPath+": "+problem.Message, "$: "))
		}
	}
	rewriteParts(v, "#", func(step, above, _ string, part any) (any, bool) {
		isSchema := isSchemaPlace(step, above)
		if isSchema {
			jsonschema.StoreSourceKeyOrder(part, keyOrder)
		}
		return part, isSchema || isData(step)
	})
	return v, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// resolveRef follows a reference within the document.
func (d *document) resolveRef(ref string) (any, error) {
	pointer, isLocal := strings.CutPrefix(ref, "#")
	if !isLocal {
		return nil, errOutside{ref}
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", ref, err)
	}
	p, err := jsonpointer.New(pointer)
	if err != nil {
		return nil, fmt.Errorf("%q is no place in the document", ref)
	}
	v, _, err := p.Get(d.root)
	if err != nil {
		return nil, fmt.Errorf("%q finds nothing", ref)
	}
	return v, nil
}

// valueAt follows keys, one after the other, from a value, resolving references; nil if there is no value.
func (d *document) valueAt(from any, keys ...string) any {
	for _, key := range keys {
		for range maxRefChain {
			ref, ok := jsonval.AsObject(from)["$ref"].(string)
			if !ok {
				break
			}
			from, _ = d.resolveRef(ref) // the library has resolved it
		}
		from = jsonval.AsObject(from)[key]
	}
	return from
}
