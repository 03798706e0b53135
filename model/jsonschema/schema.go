package jsonschema

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"processidea/model/jsonval"
)

// Schema is a compiled JSON Schema. It loads nothing, never panics, and words its errors the same way each time. It is
// safe for concurrent use. A nil Schema allows every value.
type Schema struct {
	Source any // the schema as it was written, meta properties included
	// compileOnce compiles the schema at its first call.
	compileOnce func() (compiledSchema, error)
}

type compiledSchema struct {
	*jsonschema.Schema
	stepCounter *validationStepCounter
}

// CompileSchema compiles a JSON Schema, of draft 2020-12 unless `$schema` says otherwise. It ignores meta properties,
// whose names begin with `_`. References must stay inside the schema (`#…`).
func CompileSchema(source any) (*Schema, error) { return CompileAt(source, "") }

// CompileAt compiles the part of a schema at a JSON pointer. Its references are resolved in the whole schema.
func CompileAt(source any, pointer string) (*Schema, error) {
	s := NewLazySchema(source, pointer)
	if _, err := s.compileOnce(); err != nil {
		return nil, fmt.Errorf("model: compile schema: %w", err)
	}
	return s, nil
}

// NewLazySchema is CompileAt for a schema that is known to be sound. It is compiled when it is first used, so an unused
// one costs nothing.
func NewLazySchema(source any, pointer string) *Schema {
	return &Schema{source, sync.OnceValues(func() (compiledSchema, error) {
		r, err := cachedParsedSchema(source)
		if err != nil {
			return compiledSchema{}, err
		}
		part, err := r.compileAt(pointer)
		return compiledSchema{part, r.stepCounter}, err
	})}
}

// Validate returns an error that describes how a value does not fit; nil if it fits. A value from outside must have
// come through jsonval.Decode.
func (s *Schema) Validate(v any) error {
	mismatch, err := s.check(v)
	switch {
	case err != nil:
		return fmt.Errorf("cannot be checked: %w", err)
	case mismatch != nil:
		return errors.New(validationErrorText(mismatch))
	}
	return nil
}

// Matches reports whether a value fits. It returns an error if the validator cannot decide.
func (s *Schema) Matches(v any) (ok bool, err error) {
	mismatch, err := s.check(v)
	if err != nil {
		return false, fmt.Errorf("model: validate: cannot be checked: %w", err)
	}
	return mismatch == nil, nil
}

// check returns how a value does not fit, or why that cannot be decided.
func (s *Schema) check(v any) (mismatch, err error) {
	if s == nil {
		return nil, nil
	}
	compiled, err := s.compileOnce()
	if err == nil {
		err = compiled.stepCounter.checkStepLimit(compiled.Schema, v)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	if mismatch = checkLargeValue(compiled.Schema, v); mismatch != nil {
		return mismatch, nil
	}
	return compiled.Validate(v), nil
}

// AllowsNull reports whether null is a valid value here. Otherwise null means that there is no value.
func (s *Schema) AllowsNull() bool { return s != nil && s.Validate(nil) == nil }

// WithoutMetaKeys gives a copy of a schema without its top-level keys that begin with `_`.
func WithoutMetaKeys(schema any) any {
	m, ok := schema.(jsonval.Object)
	if !ok {
		return schema
	}
	out := make(jsonval.Object, len(m))
	//workflowcheck:ignore -- each key by itself, in any order
	for k, v := range m {
		if !strings.HasPrefix(k, "_") {
			out[k] = v
		}
	}
	return out
}
