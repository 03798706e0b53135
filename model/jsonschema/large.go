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
	minLargeValueNodes = 20_000 // values inside it
	maxSmallPartNodes  = 1000   // values inside a part that the validator checks as a whole
)

// partErrorCollector are the errors in the parts of a large value.
type partErrorCollector struct {
	errorTexts []string // at most maxErrorTexts+1
}

// checkLargeValue returns the certain errors of a large value. A value without such errors may still not fit.
func checkLargeValue(s *jsonschema.Schema, v any) error {
	if countValueNodes(v, minLargeValueNodes) <= minLargeValueNodes || hasDynamicRefs(s) {
		return nil
	}
	m := &partErrorCollector{}
	m.collectErrors(s, v, "")
	if len(m.errorTexts) == 0 {
		return nil
	}
	if len(m.errorTexts) > maxErrorTexts {
		m.errorTexts = append(m.errorTexts[:maxErrorTexts], "and more")
	}
	return errors.New(strings.Join(m.errorTexts, "; "))
}

// collectErrors checks only parts that must fit for the value to fit. It skips alternatives, and rules that count the
// whole.
func (m *partErrorCollector) collectErrors(s *jsonschema.Schema, v any, pointer string) {
	if len(m.errorTexts) > maxErrorTexts || s == nil {
		return
	}
	if countValueNodes(v, maxSmallPartNodes) <= maxSmallPartNodes {
		m.addValidationErrors(s, v, pointer)
		return
	}
	m.collectErrors(s.Ref, v, pointer)
	for _, p := range s.AllOf {
		m.collectErrors(p, v, pointer)
	}
	switch v := v.(type) {
	case []any:
		items, _ := s.Items.(*jsonschema.Schema)
		if s.Items2020 != nil && len(s.PrefixItems) == 0 {
			items = s.Items2020
		}
		for n := 0; items != nil && n < len(v) && len(m.errorTexts) <= maxErrorTexts; n++ {
			m.collectErrors(items, v[n], pointer+"/"+strconv.Itoa(n))
		}
	case jsonval.Object:
		m.addUnknownKeys(s, v, pointer)
		for k, value := range jsonval.Sorted(v) {
			m.collectErrors(schemaForKey(s, k), value, pointer+"/"+EscapePointerStep(k))
		}
	}
}

// addUnknownKeys adds an error if a value has more than maxErrorTexts forbidden keys. The validator would name them
// all.
func (m *partErrorCollector) addUnknownKeys(s *jsonschema.Schema, v jsonval.Object, pointer string) {
	if areAllowed, isBool := s.AdditionalProperties.(bool); !isBool || areAllowed || len(s.PatternProperties) > 0 {
		return
	}
	var unknownKeys []string
	for k := range jsonval.Sorted(v) {
		if s.Properties[k] == nil {
			unknownKeys = append(unknownKeys, k)
		}
	}
	if omittedCount := len(unknownKeys) - maxErrorTexts; omittedCount > 0 {
		text := fmt.Sprintf("additionalProperties %q and %d more not allowed", unknownKeys[:maxErrorTexts],
			omittedCount)
		m.errorTexts = append(m.errorTexts, strings.TrimPrefix(pointer+": ", ": ")+jsonval.Clip(text, 1000))
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

func (m *partErrorCollector) addValidationErrors(s *jsonschema.Schema, v any, pointer string) {
	var ve *jsonschema.ValidationError
	if !errors.As(s.Validate(v), &ve) {
		return
	}
	texts := causeTexts(ve, pointer)
	m.errorTexts = append(m.errorTexts, texts[:min(len(texts), maxErrorTexts+1-len(m.errorTexts))]...)
}

// hasDynamicRefs reports whether a reference means something else when only a part of the schema is used.
func hasDynamicRefs(s *jsonschema.Schema) bool {
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
