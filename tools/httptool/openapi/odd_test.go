package openapi_test

import (
	"strings"
	"testing"

	"processidea/tools/httptool/openapi"
)

func TestWhatIsOddBesideTheSchemasKeepsNoOperationFromBeingUsed(t *testing.T) {
	t.Parallel()
	r := imported(t, written("3.0.3", "/x", `{"get": {"deprecated": "false", "parameters": [
		{"name": "a", "in": "query", "required": "true", "schema": {"type": "string", "enum": ["true"]},
		 "examples": ["2020-01-01"]}],
		"responses": {"200": {"description": "d", "content": {"application/json": {"examples": [{"a": 1}],
			"schema": {"type": "object", "properties": {"n": {"$ref": "#/components/schemas/Missing"}}}}}}}}}`, ""),
		openapi.Options{})
	got := encoded(r.Tools["getX"])
	for _, want := range []string{`"required":["a"]`, `"enum":["true"]`, `"properties":{"n":{}}`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	notes := strings.Join(r.Notes, "\n")
	if want := `"#/components/schemas/Missing" finds nothing`; !strings.Contains(notes, want) {
		t.Errorf("%s is missing in %s", want, notes)
	}
}

func TestOnePartThatCannotBeReadKeepsNoOtherOperationFromBeingUsed(t *testing.T) {
	t.Parallel()
	const answer = `"responses": {"200": {"description": "d"}}`
	for _, row := range []struct{ operation, note string }{
		{`"parameters": {"name": "q", "in": "query"}, ` + answer, "its parameters are no list, but object"},
		{`"security": ["key"], ` + answer, "its security is no list of objects"},
		{`"parameters": [{"$ref": "#/components/parameters/none"}], ` + answer,
			`"#/components/parameters/none" finds nothing`},
		{`"parameters": [{"$ref": "#/components/parameters/empty"}], ` + answer,
			`"#/components/parameters/empty" finds nothing`},
		{`"requestBody": {"$ref": "#/components/requestBodies/none"}, ` + answer,
			`"#/components/requestBodies/none" finds`},
	} {
		r := imported(t, written("3.0.3", "/x", `{"post": {`+row.operation+`}, "get": {`+answer+`}}`,
			`, "components": {"parameters": {"empty": null}}`), openapi.Options{})
		notes := strings.Join(r.Notes, "\n")
		if len(r.Tools) != 1 || r.Tools["getX"] == nil ||
			!strings.Contains(notes, "POST /x is left out: "+row.note) {
			t.Errorf("%s: %s, %s", row.operation, encoded(r.Tools), notes)
		}
	}
	for _, operation := range []string{`"responses": [200]`,
		`"parameters": [{"name": "q", "in": "query", "allowEmptyValue": 1}], ` + answer,
		`"responses": {"200": null, "404": {"$ref": "#/components/responses/none"}}`,
		`"externalDocs": "https://d", "callbacks": [], "tags": [{"name": "a"}], ` +
			`"responses": {"200": {"description": "d", "headers": {"X": "string"}, "links": []}}`,
		`"parameters": [null], "requestBody": {"required": true, "content": {"application/json": null}}, ` + answer,
		`"requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {"a": null}}}}}, ` + answer,
	} {
		r := imported(t, written("3.0.3", "/x", `{"post": {`+operation+`}}`, `, "externalDocs": "https://d"`),
			openapi.Options{})
		if r.Tools["postX"] == nil {
			t.Errorf("%s: %s, %q", operation, encoded(r.Tools), r.Notes)
		}
	}
	for text, want := range map[string]string{
		`{"openapi": "3.0.0", "security": "none"}`:               "the document describes no operation",
		`{"openapi": "3.0.0", "info": {"title": 1, "title": 2}}`: "$.info.title: line 1: the key stands twice",
	} {
		_, err := openapi.Import([]byte(text), openapi.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	r := imported(t, []byte(`{"openapi": "3.0.3", "info": {"title": "t", "version": "1"},
		"servers": {"url": "https://h.example"}, "paths": {"x": {"get": {`+answer+`}}}}`), openapi.Options{})
	if got := specOf(t, r.Tools["getX"]).URL; got != "https://h.example/x" {
		t.Error(got)
	}
}

// Hardly anybody writes quotes around the texts of an enum in YAML. In JSON, some put them around numbers.
func TestTheValuesOfAnEnumHaveItsType(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		`{type: string, enum: [yes, no, 1, 2.50, true]}`:  `{"enum":["yes","no","1","2.50","true"],"type":"string"}`,
		`{type: integer, enum: ["1", "2"]}`:               `{"enum":[1,2],"type":"integer"}`,
		`{type: number, enum: ["9007199254740993", 1]}`:   `{"enum":[9007199254740993,1],"type":"number"}`,
		`{type: boolean, enum: ["true", "no"]}`:           `{"enum":[true,"no"],"type":"boolean"}`,
		`{type: [string, "null"], enum: [1, null]}`:       `{"enum":["1",null],"type":["string","null"]}`,
		`{type: [string, integer], enum: [1, "1"]}`:       `{"enum":[1,"1"],"type":["string","integer"]}`,
		`{enum: [1, yes]}`:                                `{"enum":[1,"yes"]}`,
		`{type: array, items: {type: string, enum: [1]}}`: `{"items":{"enum":["1"],"type":"string"},"type":"array"}`,
	} {
		r, err := openapi.Import([]byte(`
openapi: 3.1.0
info: {title: t, version: "1"}
servers: [{url: "https://h.example"}]
paths: {/x: {get: {operationId: x, parameters: [{name: a, in: query, schema: `+written+`}], responses: {200: {description: d}}}}}
`), openapi.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := encoded(r.Tools["x"].(map[string]any)["properties"].(map[string]any)["a"]); got != want {
			t.Errorf("%s: %s, want %s", written, got, want)
		}
	}
}
