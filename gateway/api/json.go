package api

import (
	"bytes"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"processidea/model/jsonval"
)

// Object is a JSON object as it was written, digit by digit.
type Object []byte

// Value is any JSON value as it was written, digit by digit.
type Value []byte

// UnmarshalJSON keeps the text.
func (o *Object) UnmarshalJSON(data []byte) error { *o = append((*o)[:0:0], data...); return nil }

// UnmarshalJSON keeps the text.
func (v *Value) UnmarshalJSON(data []byte) error { *v = append((*v)[:0:0], data...); return nil }

// MarshalJSON gives the text.
func (o Object) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// MarshalJSON gives the text.
func (v Value) MarshalJSON() ([]byte, error) { return json.RawMessage(v).MarshalJSON() }

// Schema describes it.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Schema describes it.
func (Value) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// unmarshal reads a body strictly, with numbers as they were written.
func unmarshal(data []byte, into any) error {
	whole, err := jsonval.Decode(data)
	if any, ok := into.(*any); ok || err != nil {
		if ok {
			*any = whole
		}
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(into)
}
