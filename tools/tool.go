package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"processidea/internal/safego"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Tool is one registered function with the JSON Schemas of its parameters and its result.
type Tool struct {
	Name             string
	Description      string
	Pure             bool                 // no effect, no I/O, quick
	Undo             *ideafile.UndoMethod // how to undo it; nil: unknown
	ParametersSchema json.RawMessage      // JSON Schema of the parameters, an object
	ResultSchema     json.RawMessage      // JSON Schema of the result

	paramsSchema, resultSchema *jsonschema.Schema
	invoke                     func(context.Context, json.RawMessage) (any, error)
}

// Call runs the tool with params, a value tree as decoded with UseNumber, and returns such a tree. Unfit parameters and
// panics are final errors; any other error is the function's own, prefixed with the tool's name.
func (t *Tool) Call(ctx context.Context, params jsonval.Object) (any, error) {
	result, err := t.call(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("tools: call %s: %w", t.Name, err)
	}
	return result, nil
}

func (t *Tool) call(ctx context.Context, params jsonval.Object) (result any, err error) {
	// A tool is foreign code: its faults must not end the worker.
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, Final(&PanicError{ValueText: safego.PanicText(p), Stack: safego.Stack()})
		}
	}()
	raw, err := t.encodeParams(params)
	if err != nil {
		return nil, Final(fmt.Errorf("parameters: %w", err))
	}
	out, err := t.invoke(ctx, raw)
	if err != nil {
		return nil, err
	}
	result, err = t.decodeResult(out)
	if err != nil {
		return nil, Final(fmt.Errorf("result: %w", err))
	}
	return result, nil
}

// numberLimits are the bounds for numbers in parameters and results: libraries behind the tools spend minutes on
// greater numbers, or panic. 1e308 written out has 309 characters.
var numberLimits = jsonval.DecodeLimits{MaxNumberBytes: 400, IntegersFitFloat64: true}

func (t *Tool) encodeParams(params jsonval.Object) (json.RawMessage, error) {
	if params == nil {
		params = jsonval.Object{}
	}
	if err := numberLimits.CheckNumbers(params); err != nil {
		return nil, err
	}
	fitted, err := fitValue(t.paramsSchema, params, "")
	if err != nil {
		return nil, err
	}
	return json.Marshal(fitted)
}

func (t *Tool) decodeResult(out any) (any, error) {
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	var v any
	if err := decodeStrict(raw, &v); err != nil {
		return nil, err
	}
	if err := numberLimits.CheckNumbers(v); err != nil {
		return nil, err
	}
	return replaceNullByEmpty(t.resultSchema, v), nil
}

// plainTypeError describes a value of the wrong type and the wanted type, without the names of Go types, since the text
// goes back to the author of the Call.
func plainTypeError(err error) error {
	var typeErr *json.UnmarshalTypeError
	if !errors.As(err, &typeErr) {
		return err
	}
	wantedType := map[reflect.Kind]string{
		reflect.String: "a string", reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Array: "a list",
		reflect.Struct: "an object", reflect.Map: "an object", reflect.Float32: "a number", reflect.Float64: "a number",
	}[typeErr.Type.Kind()]
	if wantedType == "" {
		wantedType = "a whole number in range"
	}
	return fmt.Errorf("%q is %s, not %s", typeErr.Field, typeErr.Value, wantedType)
}

// decodeStrict decodes a JSON value into v, keeping numbers as they were written and refusing fields that v does not
// have.
func decodeStrict(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	d.DisallowUnknownFields()
	return d.Decode(v)
}
