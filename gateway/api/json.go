package api

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"processidea/model/jsonval"
)

// Object is a JSON object as it was written, digit by digit.
type Object struct{ json.RawMessage }

// Schema describes it.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// unmarshal reads a body strictly, with numbers as they were written.
func unmarshal(data []byte, into any) error {
	whole, err := jsonval.Decode(data)
	if any, ok := into.(*any); ok || err != nil {
		if ok {
			*any = whole
		}
		return err
	}
	return jsonval.Unmarshal(data, into)
}
