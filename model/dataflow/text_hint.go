package dataflow

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// addUnquotedTextHint extends the error of parameters that do not fit their Tool. It names a parameter that is a text
// and would fit if it were read as JSON: the columns of a CSV file are texts, which is easily missed. rawParams has the
// parameters with their References, payloadByKind has what these refer to, by kind, and schema is that of all
// parameters.
func addUnquotedTextHint(err error, schema any, rawParams, params, payloadByKind jsonval.Object) error {
	if err == nil {
		return nil
	}
	for k, v := range jsonval.Sorted(rawParams) {
		if hint := findUnquotedTextHint(schema, payloadByKind, jsonval.Path{k}, v, params[k]); hint != "" {
			return fmt.Errorf("%w; %s", err, hint)
		}
	}
	return err
}

func findUnquotedTextHint(schema any, payloadByKind jsonval.Object, path jsonval.Path, rawValue, value any) string {
	switch rawValue := rawValue.(type) {
	case jsonval.Object:
		for k, v := range jsonval.Sorted(rawValue) {
			if hint := findUnquotedTextHint(schema, payloadByKind, path.WithStep(k), v,
				jsonval.AsObject(value)[k]); hint != "" {
				return hint
			}
		}
	case string:
		text, isText := value.(string)
		ref, err := refexpr.ParseReference(rawValue)
		if !isText || err != nil || len(ref.Path) != 1 {
			return ""
		}
		payloadValue, _ := jsonval.ValueAt(payloadByKind[ref.Kind], ref.Path)
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
