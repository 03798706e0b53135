package jsonschema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"processidea/model/jsonval"
)

// Schema is a compiled JSON Schema. It loads nothing, never panics, and words its errors the same way each time. It is safe for
// concurrent use. A nil Schema allows every value.
type Schema struct {
	Source   any // the schema as it was written, meta properties included
	Compiled *jsonschema.Schema
}

// compiledSchemas remembers what was compiled: a hundred instances share one palette.
var compiledSchemas Cache[*jsonschema.Schema]

// CompileSchema compiles a JSON Schema, of draft 2020-12 unless `$schema` says otherwise. It ignores meta properties, whose
// names begin with `_`. References must stay inside the schema (`#…`).
func CompileSchema(source any) (*Schema, error) { return CompileAt(source, "") }

// CompileAt compiles the part of a schema at a JSON pointer. Its references are resolved in the whole schema.
func CompileAt(source any, pointer string) (*Schema, error) {
	text := jsonval.Encode(WithoutMeta(source))
	key := string(text) + "#" + pointer
	c, ok := compiledSchemas.Get(key)
	if !ok {
		var err error
		if c, err = Compile(text, pointer); err != nil {
			return nil, fmt.Errorf("model: compile schema: %w", err)
		}
		compiledSchemas.Put(key, c)
	}
	return &Schema{Source: source, Compiled: c}, nil
}

// Compile is CompileAt for a schema's JSON, without the cache.
func Compile(text []byte, pointer string) (s *jsonschema.Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("the validator gave up: %v", r)
		}
	}()
	source, err := jsonval.Decode(text)
	if err != nil {
		return nil, err
	}
	if err := CheckRefs(source); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("refused to load %s: nothing is ever loaded", url)
	}
	const url = "idea:///schema"
	if err := c.AddResource(url, bytes.NewReader(text)); err != nil {
		return nil, err
	}
	if s, err = c.Compile(url + "#" + pointer); err != nil {
		return nil, errors.New(errorText(err))
	}
	return s, nil
}

// Validate gives an error that says how a value does not fit, and nil if it fits. A value from outside must have come through
// jsonval.Decode.
func (s *Schema) Validate(v any) (err error) {
	if s == nil || s.Compiled == nil {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot be checked: %v", r)
		}
	}()
	if err := s.Compiled.Validate(v); err != nil {
		return errors.New(errorText(err))
	}
	return nil
}

// Matches reports whether a value fits. It gives an error if the validator cannot tell.
func (s *Schema) Matches(v any) (ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("model: validate: cannot be checked: %v", r)
		}
	}()
	return s.Compiled.Validate(v) == nil, nil
}

// TakesNull reports whether null is a value of its own here. If not, null means that there is no value.
func (s *Schema) TakesNull() bool { return s != nil && s.Validate(nil) == nil }

// WithoutMeta gives a copy of a schema without its top-level keys that begin with `_`.
func WithoutMeta(schema any) any {
	m, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	out := make(map[string]any, len(m))
	//workflowcheck:ignore -- each key by itself, in any order
	for k, v := range m {
		if !strings.HasPrefix(k, "_") {
			out[k] = v
		}
	}
	return out
}
