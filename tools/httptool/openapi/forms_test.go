package openapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/tools/httptool/openapi"
)

func TestAParameterIsSentInTheFormItsDocumentWants(t *testing.T) {
	t.Parallel()
	list := `{"type": "array", "items": {"type": "integer"}}`
	thing := `{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {}}}, "required": ["a"]}`
	for _, row := range []struct{ parameter, sent, kind, note string }{
		{`"in": "query", "schema": {"type": "integer"}`, `?p={p}`, `integer`, ``},
		{`"in": "query", "schema": {}`, `?p={p}`, ``, ``},
		{`"in": "query", "schema": ` + list, `?p={p}`, `array`, ``},
		{`"in": "query", "style": "spaceDelimited", "explode": false, "schema": ` + list, `?p={p}`, `string`, ``},
		{`"in": "query", "style": "form", "explode": false, "schema": ` + list, `?p={p}`, `string`, ``},
		{`"in": "query", "schema": ` + thing, `?a={a}`, ``, `query parameter "b" is left out`},
		{`"in": "query", "style": "deepObject", "explode": true, "schema": ` + thing, `?p[a]={p_a}`, ``,
			`query parameter "p[b]" is left out`},
		{`"in": "query", "explode": false, "schema": ` + thing, ``, ``,
			`query parameter "p" is left out: an HTTP tool cannot send it in its form`},
		{`"in": "query", "style": "deepObject", "schema": {"type": "object", "additionalProperties": {"type": "string"}}`, ``, ``, `query parameter "p" is left out`},
		{`"in": "query", "content": {"application/json": {"schema": ` + thing + `}}`, `?p={p}`, `object`, ``},
		{`"in": "query", "content": {"application/json": {"schema": ` + list + `}}`, ``, ``,
			`query parameter "p" is left out`},
		{`"in": "query", "content": {"text/csv": {"schema": {"type": "string"}}}`, ``, ``,
			`query parameter "p" is left out`},
		{`"in": "cookie", "schema": {}`, ``, ``, `cookie parameter "p" is left out: an HTTP tool sends none`},
		{`"in": "header", "schema": {"type": "boolean"}`, ` p={p}`, `boolean`, ``},
		{`"in": "header", "schema": ` + list, ` p={p}`, `string`, ``},
		{`"in": "header", "schema": ` + thing, ``, ``, `header parameter "p" is left out`},
	} {
		tool, notes, err := one(t, "get", "/x", `{"parameters": [{"name": "p", `+row.parameter+`}]}`, "")
		if err != nil {
			t.Errorf("%s: %v", row.parameter, err)
			continue
		}
		spec := specOf(t, tool)
		sent := strings.TrimPrefix(spec.URL, "https://h.example/x")
		for name, value := range spec.Headers {
			sent += " " + name + "=" + value
		}
		p, _ := tool["properties"].(map[string]any)["p"].(map[string]any)
		if kind, _ := p["type"].(string); sent != row.sent || kind != row.kind {
			t.Errorf("%s: sends %q of type %q, want %q of %q", row.parameter, sent, kind, row.sent, row.kind)
		}
		if text := strings.Join(notes, "; "); (row.note == "" && text != "") || !strings.Contains(text, row.note) {
			t.Errorf("%s: notes %q", row.parameter, text)
		}
	}
}

func TestHeadersThatAreNotTheCallersAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Accept", "content-type", "Authorization", "Host", "Idempotency-Key",
		"Content-Length"} {
		tool, notes, err := one(t, "get", "/x",
			`{"parameters": [{"name": "`+name+`", "in": "header", "required": true, "schema": {"type": "string"}}]}`,
			"")
		if err != nil || len(specOf(t, tool).Headers) > 0 ||
			!strings.Contains(fmt.Sprint(notes), "it is not the caller's") {
			t.Errorf("%s: %v %q %s", name, err, notes, encoded(tool))
		}
	}
}

func TestAnOperationThatNeedsWhatCannotBeSentIsLeftOut(t *testing.T) {
	t.Parallel()
	for operation, want := range map[string]string{
		`{"parameters": [{"name": "p", "in": "cookie", "required": true, "schema": {}}]}`:                                                                                                   `cookie parameter "p" is needed: an HTTP tool sends none`,
		`{"parameters": [{"name": "id", "in": "path", "required": true, "style": "matrix", "schema": {}}]}`:                                                                                 `path parameter "id" is needed`,
		`{"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "object"}}]}`:                                                                                    `path parameter "id" is needed`,
		`{"parameters": [{"name": "f", "in": "query", "required": true, "style": "deepObject", "schema": {"type": "object", "required": ["l"], "properties": {"l": {"type": "array"}}}}]}`:  `query parameter "f" is needed`,
		`{"requestBody": {"required": true, "content": {"multipart/form-data": {}, "application/octet-stream": {}}}}`:                                                                       "an HTTP tool cannot send application/octet-stream or multipart/form-data",
		`{"requestBody": {"required": true, "content": {"application/x-www-form-urlencoded": {"schema": {"type": "object", "required": ["o"], "properties": {"o": {"type": "object"}}}}}}}`: `form member "o" is needed`,
		`{"requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": {"type": "array"}}}}}`:                                                                                "its form is no list of named members",
		`{"requestBody": {"required": true, "content": {"application/x-www-form-urlencoded": {"schema": {"type": "object", "required": ["f"], "properties": {"f": {"type": "file"}}}}}}}`:   `form member "f" is needed: an HTTP tool cannot send a file`,
		`{"requestBody": {"required": true, "content": {"multipart/form-data": {"schema": {"type": "object", "properties": {"f": {"type": "file"}}}}}}}`:                                    "an HTTP tool cannot send multipart/form-data",
		`{"requestBody": {"content": {"multipart/form-data": {"schema": {"type": "object", "required": ["f"], "properties": {"f": {"type": "file"}}}}}}}`:                                   "an HTTP tool cannot send multipart/form-data",
		`{"requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": {"type": "object", "required": ["o"], "properties": {"o": {"type": "object"}}}}}}}`:                   `form member "o" is needed`,
		`{"requestBody": {"required": true, "content": {"*/*": {"schema": {"type": "file"}}}}}`:                                                                                             "an HTTP tool cannot send a file",
	} {
		if tool, _, err := one(t, "post", "/x/{id}", operation, ""); err == nil ||
			!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "POST /x/{id} is left out: ") {
			t.Errorf("%s: %v, want %s; %s", operation, err, want, encoded(tool))
		}
	}
}

func TestABodyIsItsMembersWhereItHasNamedOnesAndElseOneParameter(t *testing.T) {
	t.Parallel()
	members := `{"type": "object", "required": ["a", "id"], "properties": {"a": {"type": "string"}, "b-c.d": {}, "id": {"type": "integer", "readOnly": true}}}`
	for _, row := range []struct{ content, body, required, contentType string }{
		{`{"application/json": {"schema": ` + members + `}}`, `{"a":"{a}","b-c.d":"{b-c_d}"}`, `["a"]`, ``},
		{`{"application/json": {"schema": {"allOf": [` + members + `]}}}`, `{"a":"{a}","b-c.d":"{b-c_d}"}`,
			`["a"]`, ``},
		{`{"application/json": {"schema": {"allOf": [` + members + `, {"type": "object"}]}}}`, `"{body}"`,
			`["body"]`, ``},
		{`{"application/json": {"schema": {"oneOf": [` + members + `]}}}`, `"{body}"`, `["body"]`, ``},
		{`{"application/json": {"schema": {"type": "object", "properties": {"a": {}}, "additionalProperties": true}}}`,
			`"{body}"`, `["body"]`, ``},
		{`{"application/json": {"schema": {"type": ["object", "null"], "properties": {"a": {}}}}}`, `"{body}"`,
			`["body"]`, ``},
		{`{"application/json": {"schema": {"type": "array", "items": {}}}}`, `"{body}"`, `["body"]`, ``},
		{`{"application/json": {}}`, `"{body}"`, `["body"]`, ``},
		{`{"*/*": {"schema": ` + members + `}}`, `{"a":"{a}","b-c.d":"{b-c_d}"}`, `["a"]`, ``},
		{`{"application/xml": {}, "application/merge-patch+json; charset=utf-8": {"schema": ` + members + `}}`,
			`{"a":"{a}","b-c.d":"{b-c_d}"}`, `["a"]`, `application/merge-patch+json`},
		{`{"application/json-patch+json": {"schema": {"type": "array", "items": {}}}}`, `"{body}"`, `["body"]`,
			`application/json-patch+json`},
		{`{"application/json-patch+json": {"schema": {}}, "application/merge-patch+json": {"schema": ` + members + `}}`,
			`{"a":"{a}","b-c.d":"{b-c_d}"}`, `["a"]`, `application/merge-patch+json`},
		{`{"application/x-www-form-urlencoded": {"schema": ` + members + `}, "multipart/form-data": {}}`,
			`{"a":"{a}","b-c.d":"{b-c_d}"}`, `["a"]`, `application/x-www-form-urlencoded`},
		{`{"text/csv": {"schema": {"type": "string"}}}`, `"{body}"`, `["body"]`, `text/csv`},
		{`{"text/*": {}}`, `"{body}"`, `["body"]`, `text/plain`},
	} {
		tool, notes, err := one(t, "put", "/x", `{"requestBody": {"required": true, "content": `+row.content+`}}`, "")
		if err != nil || len(notes) > 0 {
			t.Errorf("%s: %v %q", row.content, err, notes)
			continue
		}
		spec := specOf(t, tool)
		if got := encoded(spec.Body); got != row.body || encoded(tool["required"]) != row.required ||
			spec.Headers["Content-Type"] != row.contentType {
			t.Errorf("%s: %s, %s, %q", row.content, got, encoded(tool["required"]), spec.Headers["Content-Type"])
		}
	}
	tool, notes, err := one(t, "post", "/x", `{"requestBody": {"content": {"application/json": {"schema": `+
		members+`}}}}`, "")
	if err != nil || encoded(tool["required"]) != `["a"]` || len(notes) != 1 ||
		!strings.Contains(notes[0], "so are its required members") {
		t.Errorf("an optional body: %v %q %s", err, notes, encoded(tool))
	}
	tool, notes, err = one(t, "post", "/x", `{"requestBody": {"content": {"application/json": {"schema": true}}}}`, "")
	if err != nil || encoded(tool["required"]) != `["body"]` ||
		!strings.Contains(fmt.Sprint(notes), "is optional there, but required here") {
		t.Errorf("an optional body of any form: %v %q %s", err, notes, encoded(tool))
	}
}

func TestTheOutputIsTheFormOfEverySuccess(t *testing.T) {
	t.Parallel()
	a, b := `{"content": {"application/json": {"schema": {"type": "string"}}}}`,
		`{"content": {"application/hal+json": {"schema": {"type": "integer"}}, "text/html": {}}}`
	for responses, want := range map[string]string{
		`{"200": ` + a + `}`:                       `{"type":"string"}`,
		`{"200": ` + a + `, "404": ` + b + `}`:     `{"type":"string"}`,
		`{"200": ` + a + `, "default": ` + b + `}`: `{"type":"string"}`,
		`{"200": ` + a + `, "201": ` + b +
			`}`: `{"anyOf":[{"type":"string"},{"type":"integer"}]}`,
		`{"2XX": ` + b + `}`: `{"type":"integer"}`,
		`{"200": ` + a +
			`, "204": {}}`: `{"anyOf":[{"type":"string"},{"type":"null"}]}`,
		`{"204": {}}`:                            `null`,
		`{"default": ` + a + `}`:                 `null`,
		`{}`:                                     `null`,
		`{"200": {"content": {"text/csv": {}}}}`: `{"type":"string"}`,
		`{"200": {"content": {"image/png": {}}}}`:                          `null`,
		`{"200": {"content": {"application/json": {}}}}`:                   `null`,
		`{"200": {"content": {"application/json": {"schema": {}}}}}`:       `null`,
		`{"200": ` + a + `, "202": {"content": {"application/json": {}}}}`: `null`,
		`{"200": {"content": {"application/json": {"schema": {"type": "object", "required": ["in", "out"],
			"properties": {"in": {"type": "string", "writeOnly": true}, "out": {"type": "string", "format": "date-time", "readOnly": true}}}}}}}`: `{"properties":{"out":{"_display":"datetime","type":"string"}},"required":["out"],"type":"object"}`,
	} {
		tool, _, err := one(t, "get", "/x", `{"responses": `+responses+`}`, "")
		if err != nil || encoded(tool["_output"]) != want {
			t.Errorf("%s: %v %s, want %s", responses, err, encoded(tool["_output"]), want)
		}
	}
}

func TestASchemaOfEitherVersionBecomesOneOfJSONSchema(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ version, schema, want string }{
		{"3.0.3", `{"type": "string", "nullable": true}`, `{"type":["string","null"]}`},
		{"3.0.3", `{"type": "string", "nullable": true, "enum": ["a"]}`,
			`{"enum":["a",null],"type":["string","null"]}`},
		{"3.0.3", `{"nullable": true, "anyOf": [{"type": "string"}, {"type": "integer"}]}`,
			`{"anyOf":[{"anyOf":[{"type":"string"},{"type":"integer"}]},{"type":"null"}]}`},
		{"3.0.3", `{"nullable": true}`, `{}`},
		{"3.0.3", `{"allOf": [{"$ref": "#/components/schemas/S"}], "description": "d", "nullable": true}`,
			`{"anyOf":[{"$ref":"#/$defs/S","description":"d"},{"type":"null"}]}`},
		{"3.0.3", `{"allOf": [{"type": "object"}, {"description": "d"}, {"nullable": true}]}`,
			`{"description":"d","type":["object","null"]}`},
		{"3.0.3", `{"allOf": [{"type": "object"}], "required": ["a"]}`,
			`{"allOf":[{"type":"object"}],"required":["a"]}`},
		{"3.0.3", `{"type": "number", "minimum": 1, "exclusiveMinimum": true, "maximum": 2, "exclusiveMaximum": false}`,
			`{"exclusiveMinimum":1,"maximum":2,"type":"number"}`},
		{"3.0.3",
			`{"type": "string", "example": "a", "xml": {"name": "x"}, "deprecated": true, "externalDocs": {"url": "http://h"}, "x-own": 1}`, `{"type":"string"}`},
		{"3.0.3",
			`{"type": "object", "additionalProperties": false, "properties": {"example": {"type": "string"}, "nullable": {"type": "boolean"}, "x-y": {"type": "string", "x-z": 1}}}`,
			`{"additionalProperties":false,"properties":{"example":{"type":"string"},"nullable":{"type":"boolean"},"x-y":{"type":"string"}},"type":"object"}`},
		{"3.1.0", `{"type": ["string", "null"], "examples": ["a"], "const": null}`,
			`{"const":null,"type":["string","null"]}`},
		{"3.1.0", `{"type": "integer", "exclusiveMinimum": 0}`, `{"exclusiveMinimum":0,"type":"integer"}`},
		{"3.1.0", `{"$ref": "#/components/schemas/S", "description": "beside"}`,
			`{"$ref":"#/$defs/S","description":"beside"}`},
		{"3.0.3", `{"$ref": "#/components/schemas/S"}`, `{"$ref":"#/$defs/S"}`},
		{"3.1.0", `{"type": "string", "format": "uuid"}`, `{"format":"uuid","type":"string"}`},
		{"3.1.0", `{"type": "integer", "format": "int64"}`, `{"type":"integer"}`},
		{"3.1.0", `{"type": "string", "pattern": "^a+$"}`, `{"pattern":"^a+$","type":"string"}`},
		{"3.1.0", `{"type": "string", "pattern": "(?=a)"}`, `{"type":"string"}`},
		{"3.1.0", `{"type": "array", "prefixItems": [{"type": "string"}], "items": false}`,
			`{"items":false,"prefixItems":[{"type":"string"}],"type":"array"}`},
		{"3.1.0", `{"type": "object", "required": ["a", "b", "a"]}`, `{"required":["a","b"],"type":"object"}`},
		{"3.0.3", `{"oneOf": [{"$ref": "#/components/schemas/S"}, {"$ref": "#/components/schemas/T"}, {}],
			"discriminator": {"propertyName": "k", "mapping": {"s": "#/components/schemas/S", "S": "S", "t": "U"}}}`,
			`{"anyOf":[{"allOf":[{"$ref":"#/$defs/S"},{"properties":{"k":{"enum":["S","s"]}}}]},{"$ref":"#/$defs/T"},{}]}`},
		{"3.1.0", `{"oneOf": [{"type": "string"}, {"type": "null"}]}`, `{"oneOf":[{"type":"string"},{"type":"null"}]}`},
		{"3.1.0", `{"if": {"type": "string"}, "then": {"minLength": 2}, "not": {"const": "no"}}`,
			`{"if":{"type":"string"},"not":{"const":"no"},"then":{"minLength":2}}`},
	} {
		r := imported(t, written(row.version, "/x",
			`{"post": {"requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "array", "items": `+row.schema+`}}}}}}`,
			`, "components": {"schemas": {"S": {"type": "string"}, "T": {}}}`), openapi.Options{})
		body := r.Tools["postX"].(map[string]any)["properties"].(map[string]any)["body"].(map[string]any)
		if got := encoded(body["items"]); got != row.want {
			t.Errorf("%s %s: %s, want %s", row.version, row.schema, got, row.want)
		}
	}
}

// The rest of an operation is of use without a keyword that no schema can have, and so are all the others.
func TestWhatNoSchemaCanSayIsLeftOutAndTheOperationStays(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ schema, want, note string }{
		{`{"type": "string", "minLength": -1}`, `{"type":"string"}`, "minLength -1 is left out"},
		{`{"type": "string", "maxLength": "10"}`, `{"type":"string"}`, `maxLength "10" is left out`},
		{`{"type": "number", "multipleOf": 0}`, `{"type":"number"}`, "multipleOf 0 is left out"},
		{`{"type": "file"}`, `{"type":"string"}`, ""},
		{`{"type": ["string", "file"]}`, `{}`, `type ["string","file"] is left out`},
		{`{"type": "any", "description": "d"}`, `{"description":"d"}`, `type "any" is left out`},
		{`{"type": "string", "required": true}`, `{"type":"string"}`, "required true is left out"},
		{`{"type": "object", "required": ["a", "a"], "properties": {"a": "string"}}`,
			`{"properties":{"a":{}},"required":["a"],"type":"object"}`, `schema "string" is left out`},
		{`{"type": "string", "enum": "a"}`, `{"type":"string"}`, `enum "a" is left out`},
		{`{"type": "array", "items": "string"}`, `{"type":"array"}`, `items "string" is left out`},
		{`{"type": "array", "items": [{"type": "string", "minLength": -1}]}`,
			`{"prefixItems":[{"type":"string"}],"type":"array"}`, "minLength -1 is left out"},
		{`{"allOf": []}`, `{}`, "allOf [] is left out"},
		{`{"type": "object", "discriminator": "kind"}`, `{"type":"object"}`, "the document is not valid"},
		{`{"type": "string", "nullable": "true"}`, `{"type":"string"}`, "the document is not valid"},
		{`{"type": "object", "additionalProperties": false, "patternProperties": {"^(?!a)": {}}}`, `{"type":"object"}`,
			`patternProperties {"^(?!a)":{}} is left out`},
		{`{"type": "number", "minimum": 1, "exclusiveMinimum": true, "maximum": "2"}`,
			`{"exclusiveMinimum":1,"type":"number"}`, `maximum "2" is left out`},
		{`{"type": "string", "pattern": "(?=a)", "minLength": -1}`, `{"type":"string"}`, "minLength -1 is left out"},
		{`{"allOf": [{"$ref": "#/components/schemas/S"}], "description": "d", "minLength": -1}`,
			`{"allOf":[{"$ref":"#/$defs/S"}],"description":"d"}`, "minLength -1 is left out"},
		{`{"type": "string", "default": -1, "const": -1, "minLength": 1}, "x": {"type": "string", "minLength": -1}`,
			`{"const":-1,"default":-1,"minLength":1,"type":"string"}`, "minLength -1 is left out"},
	} {
		for _, version := range []string{"3.0.3", "3.1.0"} {
			r := imported(t, written(version, "/x", `{"post": {"requestBody": {"required": true, "content":
				{"application/json": {"schema": {"type": "object", "properties": {"m": `+row.schema+`}}}}}},
				"get": {}}`, `, "components": {"schemas": {"S": {"type": "string"}}}`), openapi.Options{})
			notes := strings.Join(r.Notes, "\n")
			if len(r.Tools) != 2 || !strings.Contains(notes, row.note) {
				t.Errorf("%s %s: %d tools, %s", version, row.schema, len(r.Tools), notes)
				continue
			}
			post := r.Tools["postX"].(map[string]any)["properties"].(map[string]any)
			if got := encoded(post["m"]); got != row.want {
				t.Errorf("%s %s: %s, want %s", version, row.schema, got, row.want)
			}
		}
	}
	r := imported(t, written("3.0.3", "/x", `{"get": {"parameters": [
		{"name": "a", "in": "query", "schema": {"type": "string", "minLength": -1}},
		{"name": "b", "in": "query", "schema": {"$ref": "#/components/schemas/S"}}],
		"responses": {"204": {"description": "d"}}}}`,
		`, "components": {"schemas": {"S": {"type": "string", "minLength": -1}}}`), openapi.Options{})
	if want := "GET /x: the form of its parameters: minLength -1 is left out"; len(r.Notes) != 2 ||
		r.Notes[1] != want {
		t.Errorf("%q, want %s", r.Notes, want)
	}
}

// Hardly anybody writes quotes around a version in YAML.
func TestNumbersThatStandForTextsAreTexts(t *testing.T) {
	t.Parallel()
	r, err := openapi.Import([]byte(`
openapi: 3.0
info: {title: 2024, version: 1.10, description: true}
servers: [{url: "https://h.example:{port}", variables: {port: {default: 8443, enum: [8443, 443]}}}]
tags: [{name: 7}]
paths:
  /x:
    get:
      operationId: 404
      summary: 12
      tags: [2024, a]
      parameters: [{name: 1, in: query, description: 5, schema: {type: integer, enum: [1, 2], default: 1}}]
      responses: {200: {description: 200}}
`), openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tool := r.Tools["404"]
	if got := specOf(t, tool).URL; got != "https://h.example:8443/x?1={1}" {
		t.Errorf("%s", got)
	}
	if got := encoded(tool); !strings.Contains(got, `"enum":[1,2]`) || !strings.Contains(got, `"default":1`) {
		t.Errorf("the schema's own numbers: %s", got)
	}
	if notes := fmt.Sprint(r.Notes); !strings.Contains(notes, "the document is not valid: ") {
		t.Errorf("%s", notes)
	}
}

// Spring writes */* for whatever it makes of an answer, .NET other names of JSON beside its own.
func TestJSONIsJSONHoweverItsMediaTypeIsWritten(t *testing.T) {
	t.Parallel()
	const schema = `{"schema": {"type": "object", "properties": {"id": {"type": "integer"}}}}`
	for _, mediaType := range []string{"application/json", "*/*", "*/*;charset=UTF-8", "application/*", "text/json",
		"application/*+json", "application/json; charset=utf-8"} {
		tool, notes, err := one(t, "post", "/x", fmt.Sprintf(`{"requestBody": {"required": true, "content": {%q: %s}},
			"responses": {"200": {"description": "d", "content": {%[1]q: %[2]s}}}}`, mediaType, schema), "")
		if err != nil || len(notes) > 0 {
			t.Fatal(mediaType, err, notes)
		}
		output := encoded(tool["_output"])
		declared := specOf(t, tool).Headers["Content-Type"]
		if output != `{"properties":{"id":{"type":"integer"}},"type":"object"}` ||
			encoded(specOf(t, tool).Body) != `{"id":"{id}"}` || strings.Contains(declared, "*") {
			t.Errorf("%s: %s", mediaType, encoded(tool))
		}
	}
}

func TestAValueThatMayBeNullIsSentAsItsTypeIs(t *testing.T) {
	t.Parallel()
	tool, _, err := one(t, "post", "/x", `{"parameters": [{"name": "tags", "in": "query", "explode": false,
			"schema": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}}],
		"requestBody": {"content": {"application/x-www-form-urlencoded": {"encoding": {"meta": {"style": "deepObject"}},
			"schema": {"type": "object", "properties": {"amount": {"type": "integer"},
				"meta": {"anyOf": [{"type": "object"}, {"enum": [""]}]}, "more": {"oneOf": [{"type": "null"}, {"type": "object"}]}}}}}}}`, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := encoded(tool["properties"]); !strings.Contains(got, `"tags":{"description":"Several are separated by commas.`) ||
		strings.Contains(got, "meta") || strings.Contains(got, "more") {
		t.Error(got)
	}
}

func TestAFormThatIsTooLargeIsCutAndHoldsAllThatTheWholeDid(t *testing.T) {
	t.Parallel()
	// Every schema refers to every other: whole, the form has no end but its definitions.
	schemas := ""
	for n := range 60 {
		members := ""
		for m := range 60 {
			members += fmt.Sprintf(`, "m%d": {"$ref": "#/components/schemas/S%d"}`, m, m)
		}
		schemas += fmt.Sprintf(`, "S%d": {"type": "object", "description": "number %d", "properties": {%s}}`, n,
			n, members[2:])
	}
	answer := `{"200": {"content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/S1"}}}}}}`
	tool, notes, err := one(t, "get", "/x",
		`{"responses": `+answer+
			`, "parameters": [{"name": "q", "in": "query", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/S2"}}}}]}`,
		`{"schemas": {`+schemas[2:]+`}}`)
	if err != nil || !strings.Contains(fmt.Sprint(notes), "the form of its result is too large and was cut") ||
		!strings.Contains(fmt.Sprint(notes), "the form of its parameters is too large and was cut") {
		t.Fatalf("%v %q", err, notes)
	}
	if n := len(encoded(tool["_output"])); n > 8<<10 || !strings.Contains(encoded(tool["_output"]),
		`"m59":{"description":"number 59","type":"object"}`) {
		t.Errorf("%d bytes: %s", n, encoded(tool["_output"]))
	}
	form, err := jsonschema.CompileSchema(tool["_output"])
	if err != nil {
		t.Fatal(err)
	}
	deep, _ := jsonval.Decode([]byte(`[{"m1": {"m2": {"m3": {"any": 1}}}}]`))
	if err := form.Validate(deep); err != nil {
		t.Error(err)
	}
	if wrong, _ := jsonval.Decode([]byte(`[{"m1": 5}]`)); form.Validate(wrong) == nil {
		t.Error("what is left of the form says nothing")
	}
}

func TestASchemaThatHoldsItselfAloneIsNoTrap(t *testing.T) {
	t.Parallel()
	for _, schemas := range []string{
		`{"A": {"$ref": "#/components/schemas/A"}}`,
		`{"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}}`,
		`{"A": {"allOf": [{"$ref": "#/components/schemas/A"}]}}`,
		`{"A": {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/A"}}, "required": ["a"]}}`,
	} {
		_, err := openapi.Import(written("3.1.0", "/x",
			`{"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}}}`,
			`, "components": {"schemas": `+schemas+`}}`), openapi.Options{})
		if err != nil && !strings.HasPrefix(err.Error(), "openapi: ") {
			t.Errorf("%s: %v", schemas, err)
		}
	}
}

func TestValuesOfADocumentAreKeptToTheDigit(t *testing.T) {
	t.Parallel()
	const id = "9007199254740993"
	asJSON := `{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "servers": [{"url": "https://h.example"}],
	  "components": {"pathItems": {"shared": {"get": {"responses": {"200": {"description": "ok"}}}}}},
	  "paths": {"/x": {"post": {"operationId": "x", "responses": {"200": {"description": "ok"}}, "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {
	    "id": {"type": "integer", "enum": [` + id + `, 7], "maximum": ` + id + `, "default": ` + id + `}, "of": {"$ref": "#/components/schemas/of"}, "none": {"const": null}}}}}}}}}}`
	asJSON = strings.Replace(asJSON, `"pathItems"`,
		`"schemas": {"of": {"const": `+id+`, "multipleOf": 0.10}}, "pathItems"`, 1)
	var v any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(asJSON, id, `"`+id+`"`)), &v); err != nil {
		t.Fatal(err)
	}
	asYAML, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"JSON": asJSON,
		"YAML": strings.ReplaceAll(string(asYAML), `"`+id+`"`, id),
		"YAML's own spellings": strings.ReplaceAll(string(asYAML), `"`+id+`"`, "0x20_0000_0000_0001") +
			"\nx-odd: [010, +49, 1_000, .5, 5., 0x1F, 0o17, 0b11, 1e400, .inf, {<<: {a: 1}}]\n"} {
		r, err := openapi.Import([]byte(text), openapi.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		got := encoded(r.Tools["x"])
		for _, want := range []string{`"enum":[` + id + `,7]`, `"maximum":` + id, `"default":` + id, `"const":` + id,
			`"multipleOf":0.1`, `"none":{"const":null}`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s is missing in %s", name, want, got)
			}
		}
		if len(r.Notes) > 0 || strings.Contains(got, "processidea") {
			t.Errorf("%s: %q %s", name, r.Notes, got)
		}
	}
}

// Java and .NET write inheritance as an allOf in each child, and name the children in the base's discriminator. A body
// of the base's type is one of the children's: with the base alone a request would lack what the child needs.
func TestABodyOfABaseTypeTakesTheFormsOfWhatInheritsFromIt(t *testing.T) {
	t.Parallel()
	const schemas = `, "components": {"schemas": {
		"Pet": {"type": "object", "description": "Any pet.", "required": ["kind"], "properties": {"kind": {"type": "string"}, "friend": {"$ref": "#/components/schemas/Pet"}},
			"discriminator": {"propertyName": "kind"MAPPING}},
		"Cat": {"allOf": [{"$ref": "#/components/schemas/Pet"}, {"type": "object", "required": ["lives"], "properties": {"lives": {"type": "integer"}}}]},
		"Kitten": {"allOf": [{"$ref": "#/components/schemas/Cat"}]},
		"Stone": {"type": "object"}}}`
	const pet = `"Pet":{"description":"Any pet.","properties":{"friend":{"$ref":"#/$defs/Pet"},"kind":{"type":"string"}},"required":["kind"],"type":"object"}`
	const cat = `"Cat":{"allOf":[{"$ref":"#/$defs/Pet"},{"properties":{"lives":{"type":"integer"}},"required":["lives"],"type":"object"}]}`
	const kitten = `,"Kitten":{"$ref":"#/$defs/Cat"}`
	form := func(name, kinds string) string {
		return `{"allOf":[{"$ref":"#/$defs/` + name + `"},{"properties":{"kind":{"enum":[` + kinds + `]}}}]}`
	}
	for _, row := range []struct{ mapping, schema, forms, definitions string }{
		{`, "mapping": {"cat": "#/components/schemas/Cat", "tom": "Cat", "stone": "#/components/schemas/Stone", "gone": "Gone"}`,
			`{"$ref": "#/components/schemas/Pet"}`, form("Cat", `"cat","tom"`), cat + `,` + pet},
		{``, `{"allOf": [{"$ref": "#/components/schemas/Pet"}]}`, form("Cat", `"Cat"`) + `,` + form("Kitten", `"Kitten"`), cat + kitten + `,` + pet},
	} {
		r := imported(t, written("3.0.3", "/x", `{"post": {"requestBody": {"required": true, "content": {"application/json": {"schema": `+row.schema+`}}},
			"responses": {"200": {"description": "d", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}}}}`,
			strings.Replace(schemas, "MAPPING", row.mapping, 1)), openapi.Options{})
		tool := r.Tools["postX"].(map[string]any)
		if got, want := encoded(tool["properties"]), `{"body":{"anyOf":[`+row.forms+`],"description":"Any pet."}}`; got != want {
			t.Errorf("%s\n%s, want\n%s", row.mapping, got, want)
		}
		if got, want := encoded(tool["$defs"]), `{`+row.definitions+`}`; got != want {
			t.Errorf("%s\n%s, want\n%s", row.mapping, got, want)
		}
		if got := encoded(tool["_output"]); strings.Contains(got, "anyOf") {
			t.Errorf("the server says what it answers: %s", got)
		}
		if _, problems := ideafile.ReadIdea(map[string]any{"schema": map[string]any{"tools": r.Tools}}); len(problems.Errors()) > 0 {
			t.Error(problems)
		}
	}
	// A child is no form of itself.
	r := imported(t, written("3.0.3", "/x", `{"post": {"requestBody": {"required": true, "content": {"application/json": {"schema":
		{"$ref": "#/components/schemas/Cat"}}}}}}`, strings.Replace(schemas, "MAPPING", `, "mapping": {"cat": "Cat"}`, 1)), openapi.Options{})
	if got, want := encoded(r.Tools["postX"].(map[string]any)["$defs"]), `{`+cat+`,`+pet+`}`; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}
