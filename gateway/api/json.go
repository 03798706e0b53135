package api

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Object is a JSON object as it was written, digit by digit.
type Object struct{ json.RawMessage }

// Schema describes it.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// unmarshal reads a body strictly, with numbers as they were written. An Idea in it keeps the order of its parameters.
func unmarshal(data []byte, into any) error {
	whole, written, err := jsonval.DecodeInOrder(data, jsonval.DefaultLimits)
	if any, ok := into.(*any); ok || err != nil {
		if ok {
			*any = whole
		}
		return err
	}
	if len(written) > 0 {
		ideafile.KeepOrder(jsonval.At(whole, "idea"), written)
		ideafile.KeepOrder(whole, written) // delegates beside it
		data = jsonval.Encode(whole)
	}
	return jsonval.Unmarshal(data, into)
}
