package dataflow

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// addTextHint extends the error of parameters that do not fit their Tool. It names a parameter that is a text and would
// fit if it were read as JSON: the columns of a CSV file are texts, which is easily missed. raw has the parameters with
// their References, payloads has what these refer to, by kind, and schema is that of all parameters.
func addTextHint(err error, schema any, raw, params, payloads jsonval.Object) error {
	if err == nil {
		return nil
	}
	for k, v := range jsonval.Sorted(raw) {
		if hint := findTextHint(schema, payloads, jsonval.Path{k}, v, params[k]); hint != "" {
			return fmt.Errorf("%w; %s", err, hint)
		}
	}
	return err
}

func findTextHint(schema any, payloads jsonval.Object, path jsonval.Path, raw, value any) string {
	switch raw := raw.(type) {
	case jsonval.Object:
		for k, v := range jsonval.Sorted(raw) {
			if hint := findTextHint(schema, payloads, path.WithStep(k), v,
				jsonval.AsObject(value)[k]); hint != "" {
				return hint
			}
		}
	case string:
		text, isText := value.(string)
		ref, err := refexpr.ParseReference(raw)
		if !isText || err != nil || len(ref.Path) != 1 {
			return ""
		}
		payloadValue, _ := jsonval.ValueAt(payloads[ref.Kind], ref.Path)
		typeName := typeOfUnquotedText(text, jsonschema.TypesAt(schema, path))
		if payloadValue == any(text) && typeName != "" {
			return fmt.Sprintf(
				`%s is the text %q: if it comes from a CSV file, give the column its type in the Idea's context: `+
					`{"type": %q, "schema": {"properties": {%q: {"type": %q}}}}`,
				ref, jsonval.Clip(text, 40), ref.Kind, ref.Path[0], typeName)
		}
	}
	return ""
}

// typeOfUnquotedText returns which of the wanted types a text would have without its quotes; "" if it would have none
// of them.
func typeOfUnquotedText(text string, wantedTypes []string) string {
	v, err := jsonval.Decode([]byte(strings.ToLower(text)))
	if err != nil {
		return ""
	}
	for _, t := range []string{jsonschema.SchemaTypeOf(v), jsonval.TypeOf(v)} {
		if slices.Contains(wantedTypes, t) {
			return t
		}
	}
	return ""
}
