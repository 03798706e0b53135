package api

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Object is a JSON object that is kept as it was written, including the digits of its numbers.
type Object struct{ json.RawMessage }

// Schema describes an object with any keys.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// unmarshal decodes a body strictly and keeps numbers as they were written. An Idea in it keeps the order of its
// parameters.
func unmarshal(data []byte, target any) error {
	value, keyOrder, err := jsonval.DecodeWithKeyOrder(data, jsonval.DefaultLimits)
	if anyTarget, ok := target.(*any); ok || err != nil {
		if ok {
			*anyTarget = value
		}
		return err
	}
	if len(keyOrder) > 0 {
		ideafile.RecordParamOrder(jsonval.Lookup(value, "idea"), keyOrder)
		ideafile.RecordParamOrder(value, keyOrder) // the delegates beside the Idea
		data = jsonval.Encode(value)
	}
	return jsonval.Unmarshal(data, target)
}
