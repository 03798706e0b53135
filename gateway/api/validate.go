package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"processidea/model/diag"
)

// validator validates a body against its schema while it reads the body, token by token. The framework's own validator
// first makes a value of the whole body, with numbers as floats, and an error for each fault. Both take a hundred times
// the memory of a malicious body. Here the framework validates only scalars, one at a time.
type validator struct {
	*json.Decoder
	registry           huma.Registry
	path               []byte
	errs               []error // of huma.ErrorDetail; at most diag.MaxListedProblems
	unlistedErrorCount int     // number of further errors
}

// validateBody returns an error that lists the faults of a body, or nil if there are none.
func validateBody(registry huma.Registry, s *huma.Schema, body []byte) error {
	v := &validator{Decoder: json.NewDecoder(bytes.NewReader(body)), registry: registry, path: []byte("body")}
	v.UseNumber()
	err := v.readValue(s, false)
	if err == nil {
		if _, err = v.Token(); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			err = errors.New("invalid character after top-level value")
		}
	}
	if err != nil {
		return huma.NewError(http.StatusBadRequest, "validation failed",
			&huma.ErrorDetail{Location: "body", Message: err.Error()})
	}
	if len(v.errs) == 0 {
		return nil
	}
	if v.unlistedErrorCount > 0 {
		v.errs = append(v.errs, &huma.ErrorDetail{Location: "body", Message: diag.AndMoreText(v.unlistedErrorCount)})
	}
	return huma.NewError(http.StatusUnprocessableEntity, "validation failed", v.errs...)
}

// readAt reads the value below a key or an index.
func (v *validator) readAt(step string, read func() error) error {
	n := len(v.path)
	v.path = append(v.path, step...)
	err := read()
	v.path = v.path[:n]
	return err
}

func (v *validator) addError(message string) {
	if len(v.errs) == diag.MaxListedProblems {
		v.unlistedErrorCount++
		return
	}
	v.errs = append(v.errs, &huma.ErrorDetail{Location: string(v.path), Message: message})
}

// readValue reads one value. The error is for invalid JSON only.
func (v *validator) readValue(s *huma.Schema, allowsNull bool) error {
	t, err := v.Token()
	if err != nil {
		return err
	}
	for s.Ref != "" {
		s = v.registry.SchemaFromRef(s.Ref)
	}
	switch {
	case t == nil && allowsNull:
		return nil
	case t == json.Delim('[') && s.Type == huma.TypeArray:
		return v.readArray(s)
	case t == json.Delim('{') && s.Type == huma.TypeObject:
		return v.readObject(s)
	case t == json.Delim('['):
		v.validateScalar(s, []any(nil))
		return v.skipToEnd()
	case t == json.Delim('{'):
		v.validateScalar(s, map[string]any(nil))
		return v.skipToEnd()
	}
	v.validateScalar(s, t)
	return nil
}

// validateScalar validates a scalar, or an empty value in place of an array or object of the wrong type.
func (v *validator) validateScalar(s *huma.Schema, x any) {
	if n, ok := x.(json.Number); ok {
		x, _ = n.Float64()
	}
	var result huma.ValidateResult
	huma.Validate(v.registry, s, huma.NewPathBuffer(slices.Clone(v.path), len(v.path)), huma.ModeWriteToServer, x,
		&result)
	for _, err := range result.Errors {
		var detail *huma.ErrorDetail
		if errors.As(err, &detail) {
			v.addError(detail.Message)
		}
	}
}

// readArray reads the rest of an array. If it is too long, that one error replaces the errors of its items.
func (v *validator) readArray(s *huma.Schema) error {
	listedCountBefore, unlistedCountBefore, n := len(v.errs), v.unlistedErrorCount, 0
	for ; v.More(); n++ {
		if s.MaxItems != nil && n == *s.MaxItems {
			v.errs, v.unlistedErrorCount = v.errs[:listedCountBefore], unlistedCountBefore
			v.addError(fmt.Sprintf(validation.MsgExpectedMaxItems, *s.MaxItems))
			return v.skipToEnd()
		}
		if err := v.readAt("["+strconv.Itoa(n)+"]", func() error { return v.readValue(s.Items, false) }); err != nil {
			return err
		}
	}
	if s.MinItems != nil && n < *s.MinItems {
		v.addError(fmt.Sprintf(validation.MsgExpectedMinItems, *s.MinItems))
	}
	return v.skipToEnd()
}

// readObject reads the rest of an object.
func (v *validator) readObject(s *huma.Schema) error {
	if len(s.Properties) == 0 && allowsAnyValue(s.AdditionalProperties) {
		return v.skipToEnd()
	}
	seenKeys := map[string]bool{}
	for v.More() {
		t, err := v.Token()
		if err != nil {
			return err
		}
		key := t.(string) // the decoder accepts only strings as keys
		if err := v.readAt("."+key, func() error { return v.readProperty(s, key, seenKeys) }); err != nil {
			return err
		}
	}
	for _, key := range s.Required {
		if !seenKeys[key] {
			v.addError(fmt.Sprintf(validation.MsgExpectedRequiredProperty, key))
		}
	}
	return v.skipToEnd()
}

// allowsAnyValue reports whether an object may have any other keys, with any values.
func allowsAnyValue(additionalProperties any) bool {
	s, isSchema := additionalProperties.(*huma.Schema)
	return additionalProperties == true || isSchema && s.Ref == "" && s.Type == ""
}

// readProperty reads the value of a key.
func (v *validator) readProperty(s *huma.Schema, key string, seenKeys map[string]bool) error {
	additionalSchema, _ := s.AdditionalProperties.(*huma.Schema)
	propertySchema := s.Properties[key]
	switch {
	case seenKeys[key]:
		v.addError("the key stands twice")
	case propertySchema != nil:
		seenKeys[key] = true
		return v.readValue(propertySchema, !slices.Contains(s.Required, key))
	case additionalSchema != nil:
		return v.readValue(additionalSchema, false)
	case s.AdditionalProperties == false:
		v.addError(validation.MsgUnexpectedProperty)
	}
	return v.readValue(&huma.Schema{}, false)
}

// skipToEnd reads to the end of the array or object that is being read.
func (v *validator) skipToEnd() error {
	for depth := 1; depth > 0; {
		t, err := v.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
	}
	return nil
}
