package httptool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"processidea/model/jsonval"
)

// Spec is the request of an HTTP tool, in `_activity.http`. {name} is replaced by a parameter, and $env:NAME by a
// secret of the worker; {{name}} is a literal {name}.
type Spec struct {
	URL     string            `json:"url"`               // http:// or https://, or $env:NAME for the beginning
	Method  string            `json:"method,omitempty"`  // empty: POST
	Headers map[string]string `json:"headers,omitempty"` // the tool's own; IsReservedHeader names are refused
	Body    any               `json:"body,omitempty"`    // template; if absent, the parameters are sent
}

var allowedMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// reservedHeaders are the headers that belong to the connection or to the engine.
var reservedHeaders = []string{"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer",
	"idempotency-key", "accept-encoding", "proxy-authorization", "expect"}

// IsReservedHeader reports whether a header belongs to the connection or to the engine: a spec may not set it.
func IsReservedHeader(name string) bool {
	return slices.Contains(reservedHeaders, strings.ToLower(name))
}

// ParseSpec reads a Spec from a value tree, or from anything that encodes to its JSON, and returns the error in it. It
// needs no network and no environment.
func ParseSpec(raw any) (Spec, error) {
	s, err := decodeSpec(raw)
	if err != nil {
		return Spec{}, fmt.Errorf("httptool: parse spec: %w", err)
	}
	s.Method = strings.ToUpper(s.Method)
	if err := s.check(); err != nil {
		return Spec{}, fmt.Errorf("httptool: parse spec: %w", err)
	}
	return s, nil
}

func decodeSpec(raw any) (s Spec, err error) {
	specJSON, err := json.Marshal(raw)
	var fields jsonval.Object
	if err != nil || json.Unmarshal(specJSON, &fields) != nil || fields == nil {
		return Spec{}, errors.New("not an object")
	}
	for _, name := range jsonval.SortedKeys(fields) {
		if !slices.Contains([]string{"url", "method", "headers", "body"}, name) {
			return Spec{}, fmt.Errorf("unknown key %q", name)
		}
	}
	if err := jsonval.Unmarshal(specJSON, &s); err != nil {
		var typeErr *json.UnmarshalTypeError
		if errors.As(err, &typeErr) {
			return Spec{}, fmt.Errorf("%s: a %s does not fit", typeErr.Field, typeErr.Value)
		}
		return Spec{}, err
	}
	return s, nil
}

func (s Spec) check() error {
	if _, err := splitURL(s.URL); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if !slices.Contains(allowedMethods, s.method()) {
		return fmt.Errorf("method: %q is not one of %s", s.Method, strings.Join(allowedMethods, ", "))
	}
	if s.Body != nil && (s.method() == "GET" || s.method() == "HEAD") {
		return fmt.Errorf("body: a %s request has none", s.method())
	}
	for _, name := range jsonval.SortedKeys(s.Headers) {
		if !httpguts.ValidHeaderFieldName(name) || IsReservedHeader(name) {
			return fmt.Errorf("headers: %q cannot be set", name)
		}
		if !httpguts.ValidHeaderFieldValue(s.Headers[name]) {
			return fmt.Errorf("headers: %s: not a header's value", name)
		}
	}
	for _, t := range s.templateTexts() {
		if err := CheckSecretReferences(t.text); err != nil {
			return err
		}
	}
	return nil
}

func (s Spec) method() string {
	if s.Method == "" {
		return "POST"
	}
	return strings.ToUpper(s.Method)
}

// sendsParamsInQuery reports whether the request carries its parameters in the query.
func (s Spec) sendsParamsInQuery() bool {
	switch s.method() {
	case "GET", "HEAD":
		return true
	case "DELETE":
		return s.Body == nil
	}
	return false
}
