package jsonschema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"processidea/model/jsonval"
)

// The validator makes an error of several hundred bytes for every part that does not fit. So a large value is first
// checked part by part, and only until a few parts have not fitted.

const (
	largeValue = 20_000 // values inside it
	smallPart  = 1000   // values inside a part that the validator checks as a whole
)

// misfits are the errors in the parts of a large value.
type misfits struct {
	texts []string // at most maxErrors+1
}

// checkLargeValue returns the certain errors of a large value. A value without such errors may still not fit.
func checkLargeValue(s *jsonschema.Schema, v any) error {
	if countValueNodes(v, largeValue) <= largeValue || refersDynamically(s) {
		return nil
	}
	m := &misfits{}
	m.collect(s, v, "")
	if len(m.texts) == 0 {
		return nil
	}
	if len(m.texts) > maxErrors {
		m.texts = append(m.texts[:maxErrors], "and more")
	}
	return errors.New(strings.Join(m.texts, "; "))
}

// collect checks only parts that must fit for the value to fit. It skips alternatives, and rules that count the whole.
func (m *misfits) collect(s *jsonschema.Schema, v any, at string) {
	if len(m.texts) > maxErrors || s == nil {
		return
	}
	if countValueNodes(v, smallPart) <= smallPart {
		m.validate(s, v, at)
		return
	}
	m.collect(s.Ref, v, at)
	for _, p := range s.AllOf {
		m.collect(p, v, at)
	}
	switch v := v.(type) {
	case []any:
		items, _ := s.Items.(*jsonschema.Schema)
		if s.Items2020 != nil && len(s.PrefixItems) == 0 {
			items = s.Items2020
		}
		for n := 0; items != nil && n < len(v) && len(m.texts) <= maxErrors; n++ {
			m.collect(items, v[n], at+"/"+strconv.Itoa(n))
		}
	case jsonval.Object:
		m.findUnknown(s, v, at)
		for k, value := range jsonval.Sorted(v) {
			m.collect(schemaForKey(s, k), value, at+"/"+EscapePointerStep(k))
		}
	}
}

// findUnknown adds an error if a value has more than maxErrors forbidden keys. The validator would name them all.
func (m *misfits) findUnknown(s *jsonschema.Schema, v jsonval.Object, at string) {
	if allowed, isBool := s.AdditionalProperties.(bool); !isBool || allowed || len(s.PatternProperties) > 0 {
		return
	}
	var unknown []string
	for k := range jsonval.Sorted(v) {
		if s.Properties[k] == nil {
			unknown = append(unknown, k)
		}
	}
	if rest := len(unknown) - maxErrors; rest > 0 {
		text := fmt.Sprintf("additionalProperties %q and %d more not allowed", unknown[:maxErrors], rest)
		m.texts = append(m.texts, strings.TrimPrefix(at+": ", ": ")+jsonval.Clip(text, 1000))
	}
}

// schemaForKey returns one schema that the value at a key must fit, or nil if there is none.
func schemaForKey(s *jsonschema.Schema, key string) *jsonschema.Schema {
	if p := s.Properties[key]; p != nil || len(s.PatternProperties) > 0 {
		return p
	}
	p, _ := s.AdditionalProperties.(*jsonschema.Schema)
	return p
}

func (m *misfits) validate(s *jsonschema.Schema, v any, at string) {
	var ve *jsonschema.ValidationError
	if !errors.As(s.Validate(v), &ve) {
		return
	}
	texts := causeTexts(ve, at)
	m.texts = append(m.texts, texts[:min(len(texts), maxErrors+1-len(m.texts))]...)
}

// refersDynamically reports whether a reference means something else when only a part of the schema is used.
func refersDynamically(s *jsonschema.Schema) bool {
	seen := map[*jsonschema.Schema]bool{s: true}
	for todo := []*jsonschema.Schema{s}; len(todo) > 0; todo = todo[1:] {
		if todo[0].DynamicRef != nil || todo[0].RecursiveRef != nil {
			return true
		}
		for _, p := range allSubschemas(todo[0]) {
			if !seen[p] {
				seen[p] = true
				todo = append(todo, p)
			}
		}
	}
	return false
}
