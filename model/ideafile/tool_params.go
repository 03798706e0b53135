package ideafile

import (
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

func (t *Tool) readParams(path string, ps *diag.Problems) {
	if schemaType, ok := t.Source["type"]; ok && schemaType != "object" {
		ps.Add(path+".type", `a tool's parameters are an object: "type" must be "object"`)
	}
	schema := t.ParamsSchemaSource()
	t.ParamsSchema = jsonschema.CompileReportingProblems(schema, path, ps)
	if t.ParamsSchema == nil {
		return
	}
	props, hasProperties := t.Source["properties"].(jsonval.Object)
	additional, hasAdditional := t.Source["additionalProperties"]
	t.AllowsExtraParams = (hasAdditional && additional != false) || (!hasAdditional && !hasProperties)
	t.SchemaByParam, t.WiredExpressionByParam = map[string]*jsonschema.Schema{}, map[string]string{}
	for name, v := range jsonval.Sorted(props) {
		paramPath := jsonval.JSONPathWithKey(path+".properties", name)
		if strings.HasPrefix(name, "_") {
			ps.Add(paramPath, "a parameter's name does not begin with _: that is for meta properties")
		}
		if ref, ok := WiredReference(v); ok {
			if _, err := refexpr.FindExpressions(ref); err != nil {
				ps.Add(paramPath+".const", "%s", err)
			}
			t.WiredExpressionByParam[name] = ref
		}
		t.SchemaByParam[name] = jsonschema.CompilePartReportingProblems(schema,
			"/properties/"+jsonschema.EscapePointerStep(name), paramPath, ps)
	}
}

// ParamsSchemaSource is the JSON Schema of resolved parameters. In the Tool as written, the `const` of a wired
// parameter is the Reference; here it is left out, so that the referenced value fits.
func (t *Tool) ParamsSchemaSource() jsonval.Object {
	props, ok := t.Source["properties"].(jsonval.Object)
	if !ok {
		return t.Source
	}
	properties := jsonval.Object{}
	//workflowcheck:ignore -- a map again
	for name, schema := range props {
		if _, isWired := WiredReference(schema); isWired {
			schema = jsonval.WithoutKey(schema.(jsonval.Object), "const")
		}
		properties[name] = schema
	}
	schema := jsonval.WithKey(t.Source, "properties", properties)
	return schema
}

// WiredReference returns the Reference of a wired parameter's schema: {"const": "†…"}.
func WiredReference(schema any) (string, bool) {
	m := jsonval.AsObject(schema)
	s, ok := m["const"].(string)
	return s, ok && refexpr.IsExpressionOrTemplate(s)
}
