package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// defaultSchemaByType are the schemas of types whose JSON is not what their Go kind suggests.
var defaultSchemaByType = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.Number]():     {Type: "number"},
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
}

// reflectSchemas makes the schemas of a tool's parameters and of its result.
func reflectSchemas[In, Out any](schemaByType map[reflect.Type]*jsonschema.Schema) (paramsSchema,
	resultSchema *jsonschema.Schema, err error) {
	opts := &jsonschema.ForOptions{TypeSchemas: schemaByType}
	paramsSchema, err = jsonschema.For[In](opts)
	if err != nil {
		return nil, nil, fmt.Errorf("parameters: %w", err)
	}
	resultSchema, err = jsonschema.For[Out](opts)
	if err != nil {
		return nil, nil, fmt.Errorf("result: %w", err)
	}
	removeNullTypes(paramsSchema)
	removeNullTypes(resultSchema)
	if paramsSchema.Type != "object" {
		return nil, nil, errors.New("parameters: not an object")
	}
	for name := range paramsSchema.Properties {
		if strings.HasPrefix(name, "_") {
			return nil, nil, fmt.Errorf("parameters: %q: a leading _ is for meta properties", name)
		}
	}
	return paramsSchema, resultSchema, nil
}

// removeNullTypes removes null where it adds nothing: a nil slice is an empty list, and an optional property that is
// null is absent.
func removeNullTypes(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if slices.Contains(s.Types, "array") {
		dropNullType(s)
	}
	for name, p := range s.Properties {
		if !slices.Contains(s.Required, name) {
			dropNullType(p)
		}
		removeNullTypes(p)
	}
	removeNullTypes(s.Items)
	removeNullTypes(s.AdditionalProperties)
}

func dropNullType(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
}

// encodeSchema returns the schema as JSON, with its properties in the order of the fields.
func encodeSchema(s *jsonschema.Schema) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("tools: encode a schema: %v", err)) // a schema made by reflection can always be encoded
	}
	return b
}
