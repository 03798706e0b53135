package openapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"processidea/model/jsonval"
	"processidea/tools/httptool/openapi"
)

// written is a document of one path, with what else is said.
func written(version, path, item, more string) []byte {
	return fmt.Appendf(
		nil,
		`{"openapi": %q, "info": {"title": "t", "version": "1"}, "servers": [{"url": "https://h.example"}], "paths": {%q: %s}%s}`,
		version, path, item, more)
}

// one imports a document of one operation.
func one(t *testing.T, method, path, operation, components string) (tool map[string]any, notes []string, err error) {
	t.Helper()
	if components != "" {
		components = `, "components": ` + components
	}
	r, err := openapi.Import(written("3.1.0", path, fmt.Sprintf(`{%q: %s}`, method, operation), components),
		openapi.Options{ApprovalMode: openapi.ApproveNone})
	if err != nil {
		return nil, nil, err
	}
	for _, v := range r.Tools {
		tool = v.(map[string]any)
	}
	return tool, r.Notes, nil
}

func encoded(v any) string { return string(jsonval.Encode(v)) }

func TestADocumentThatLeavesItselfIsRefusedAndNothingIsLoaded(t *testing.T) {
	t.Parallel()
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte(`{"type": "string"}`))
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "pet.json")
	if err := os.WriteFile(file, []byte(`{"type": "string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{s.URL + "/pet.json", "file://" + file, file, "pet.json", "../pet.json#/a",
		s.URL + "#/components/schemas/P"} {
		for name, operation := range map[string]string{
			"a schema":    `{"parameters": [{"name": "a", "in": "query", "schema": {"$ref": %q}}]}`,
			"a member":    `{"requestBody": {"content": {"application/json": {"schema": {"properties": {"a": {"items": {"$ref": %q}}}}}}}}`,
			"a parameter": `{"parameters": [{"$ref": %q}]}`,
			"a body":      `{"requestBody": {"$ref": %q}}`,
		} {
			if tool, _, err := one(t, "post", "/x", fmt.Sprintf(operation, ref), ""); err == nil {
				t.Errorf("%s %s: %s", name, ref, encoded(tool))
			}
		}
		if _, err := openapi.Import(written("3.1.0", "/x", fmt.Sprintf(`{"$ref": %q}`, ref), ""),
			openapi.Options{}); err == nil || !strings.Contains(err.Error(), "put all of it into one document") {
			t.Errorf("a path %s: %v", ref, err)
		}
	}
	if asked > 0 {
		t.Errorf("%d requests", asked)
	}
}

// What others have put into files of their own is needed by some operations only.
func TestAReferenceThatLeavesTheDocumentCostsNoOtherOperation(t *testing.T) {
	t.Parallel()
	const (
		answer = `"responses": {"200": {"description": "d"}}`
		body   = `"requestBody": {"content": {"application/json": {"schema": %s}}}, ` + answer
	)
	for operation, want := range map[string]string{
		`"parameters": [{"name": "a", "in": "query", "schema": {"$ref": "a.json"}}], ` + answer: `"a.json" leaves the document`,
		fmt.Sprintf(body, `{"$ref": "./a.json#/A"}`):                                            `"./a.json#/A" leaves the document`,
		fmt.Sprintf(body, `{"properties": {"a": {"items": {"$ref": "a.json"}}}}`):               `"a.json" leaves the document`,
		fmt.Sprintf(body, `{"$ref": "#/components/schemas/Outer"}`):                             `"https://h.example/o.json" leaves the document`,
		`"parameters": [{"$ref": "a.json"}], ` +
			answer: `"a.json" leaves the document`,
		`"parameters": [{"$ref": "#/components/parameters/Outer"}], ` +
			answer: `"p.json" leaves the document`,
		`"requestBody": {"$ref": "b.json"}, ` +
			answer: `"b.json" leaves the document`,
	} {
		r := imported(t, written("3.1.0", "/x", `{"post": {`+operation+`}, "get": {`+answer+`}}`, `, "components": {
			"schemas": {"Outer": {"$ref": "https://h.example/o.json"}}, "parameters": {"Outer": {"$ref": "p.json"}}}`),
			openapi.Options{})
		if notes := strings.Join(r.Notes, "\n"); len(r.Tools) != 1 || r.Tools["getX"] == nil ||
			!strings.Contains(notes, "is left out: "+want) {
			t.Errorf("%s: %s, %s", operation, encoded(r.Tools), notes)
		}
	}
	r := imported(t, []byte(`{"openapi": "3.1.0", "info": {"title": "t", "version": "1"},
		"servers": [{"url": "https://h.example"}], "paths": {"/y": {"$ref": "y.yaml"}, "/x": {"get": {`+answer+`}}}}`),
		openapi.Options{})
	if notes := strings.Join(r.Notes, "\n"); len(r.Tools) != 1 ||
		!strings.Contains(notes, `/y is left out: "y.yaml" leaves the document: nothing is ever loaded`) {
		t.Errorf("%s, %s", encoded(r.Tools), notes)
	}
	for operation, want := range map[string]string{
		`"responses": {"200": {"$ref": "a.json"}}`: `is read as an answer of unknown content`,
		`"responses": {"200": {"description": "d", "content": {"application/json": {"schema": {"$ref": "a.json"}}}}}`:                   `"a.json" leaves the document`,
		`"responses": {"200": {"description": "d", "headers": {"X": {"$ref": "#/components/headers/H"}}}}`:                              ``,
		`"parameters": [{"name": "a", "in": "query", "schema": {}, "examples": {"e": {"$ref": "#/components/examples/E"}}}], ` + answer: ``,
		`"callbacks": {"c": {"$ref": "c.json"}}, ` +
			answer: ``,
		fmt.Sprintf(body, `{"$ref": "#/components/schemas/Pet"}`): ``,
	} {
		r := imported(t, written("3.1.0", "/x", `{"post": {`+operation+`}}`, `, "components": {
			"schemas": {"Pet": {"type": "object", "discriminator": {"propertyName": "kind", "mapping": {"dog": "./dog.json"}}}}, "examples": {"E": {"$ref": "e.json"}},
			"headers": {"H": {"$ref": "h.json"}}}`),
			openapi.Options{})
		if notes := strings.Join(r.Notes, "\n"); r.Tools["postX"] == nil || !strings.Contains(notes, want) {
			t.Errorf("%s: %s, %s", operation, encoded(r.Tools), notes)
		}
	}
}

func TestAKeyThatIsOptionalIsTold(t *testing.T) {
	t.Parallel()
	const schemes = `{"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}, "m": {"type": "mutualTLS"}}}`
	for security, want := range map[string]string{
		`[{}, {"key": []}]`: `["POST /x: it is called without key, which is optional there"]`,
		`[{"key": []}, {}]`: `[]`, `[{}]`: `[]`, `[]`: `[]`, `[{}, {"m": []}]`: `[]`,
	} {
		tool, notes, err := one(t, "post", "/x", `{"security": `+security+`, "responses": {"200": {"description": "d"}}}`, schemes)
		hasKey := strings.Contains(encoded(tool), "$env:KEY")
		if got := encoded(jsonval.ToJSONValue(append([]string{}, notes...))); err != nil || got != want ||
			hasKey != strings.HasPrefix(security, `[{"key"`) {
			t.Errorf("%s: %s, %s %v", security, got, encoded(tool), err)
		}
	}
}

func TestWhatADocumentSaysNamesNoSecretAndNoReferenceOfItsOwn(t *testing.T) {
	t.Parallel()
	const key = "$env:OPENAI_API_KEY"
	r, err := openapi.Import([]byte(`{"openapi": "3.1.0", "info": {"title": "t", "version": "1"},
		"servers": [{"url": "https://h.example/`+key+`"}],
		"security": [{"OPENAI_API_KEY": [], "cookie": [], "path": []}],
		"paths": {"/`+key+`/{id}/{{id}}": {"servers": [{"url": "https://h.example"}], "post": {"operationId": "`+key+`", "summary": "`+key+`",
			"parameters": [{"name": "`+key+`", "in": "query", "schema": {"const": "†state.secret"}}, {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
				{"name": "X-Id", "in": "header", "schema": {"enum": ["`+key+`"]}}],
			"requestBody": {"content": {"application/x; a=`+key+`+json": {}, "application/json": {"schema": {"type": "object", "properties": {"`+key+`": {"const": "†state"}, "_instance": {}}}}}}}},
			"/there": {"get": {}}},
		"components": {"securitySchemes": {"OPENAI_API_KEY": {"type": "http", "scheme": "bearer"}, "path": {"type": "apiKey", "in": "query", "name": "`+key+`"},
			"cookie": {"type": "apiKey", "in": "cookie", "name": "sid"}}}}`), openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Tools) != 1 || !strings.Contains(strings.Join(r.Notes, "\n"), "GET /there is left out") {
		t.Errorf("%q, %q", encoded(r.Tools), r.Notes)
	}
	for name, v := range r.Tools {
		spec := specOf(t, v)
		if got := spec.SecretNames(); !slices.Equal(got, []string{"API_OPENAI_API_KEY", "API_PATH", "COOKIE"}) {
			t.Errorf("%s names %q: %s", name, got, encoded(v))
		}
		if !slices.Equal(spec.ParameterNames(), []string{"X-Id", "body_env_OPENAI_API_KEY", "env_OPENAI_API_KEY", "id",
			"instance"}) {
			t.Errorf("%s reads %q: %s", name, spec.ParameterNames(), encoded(v))
		}
		if strings.Contains(encoded(v.(map[string]any)["properties"]), `"const"`) ||
			!strings.Contains(encoded(v), `"enum":["†state.secret"]`) {
			t.Errorf("a constant is wired: %s", encoded(v))
		}
	}
}

func TestEveryToolHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70)
	paths := ""
	for n, id := range []string{"a b", "a/b", "a_b", "_hidden", "é", "", "", long + "1", long + "2", "get"} {
		paths += fmt.Sprintf(
			`, "/p%d/{q-r}/y.z": {"get": {"operationId": %q, "parameters": [{"name": "q-r", "in": "path", "required": true, "schema": {}}]}}`, n, id)
	}
	r := imported(t, fmt.Appendf(nil,
		`{"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "servers": [{"url": "http://h"}], "paths": {%s}}`,
		paths[2:]), openapi.Options{})
	want := map[string]string{"a_b": "/p2/", "a_b_2": "/p0/", "a_b_3": "/p1/", "hidden": "/p3/", "operation": "/p4/",
		"getP5ByQRYZ": "/p5/", "getP6ByQRYZ": "/p6/",
		long[:64]: "/p7/", long[:62] + "_2": "/p8/", "get": "/p9/"}
	for name, path := range want {
		if v := r.Tools[name]; v == nil || !strings.HasPrefix(specOf(t, v).URL, "http://h"+path) {
			t.Errorf("%s is %s", name, encoded(v))
		}
	}
	if len(r.Tools) != len(want) {
		t.Errorf("%d Tools", len(r.Tools))
	}
}

func TestOnlyTheOperationsThatAreAskedForAreTaken(t *testing.T) {
	t.Parallel()
	r := imported(t, document(t, "petshop.yaml"),
		openapi.Options{OperationNames: []string{"listPets", "pets/get", "deletePetsByPetId"}})
	if got := encoded(r.Tools); len(r.Tools) != 3 || !strings.Contains(got, `"pets_get":`) ||
		strings.Contains(fmt.Sprint(r.Notes), "POST") {
		t.Errorf("%s %q", got, r.Notes)
	}
	_, err := openapi.Import(document(t, "petshop.yaml"), openapi.Options{OperationNames: []string{"listPets",
		"listDogs"}})
	if err == nil || !strings.Contains(err.Error(), `no operation "listDogs"; there are placeOrder, listPets,`) {
		t.Errorf("%v", err)
	}
}

func TestAPersonIsAskedBeforeWhatWritesUnlessSaidOtherwise(t *testing.T) {
	t.Parallel()
	for approve, want := range map[string]string{
		"": "addPet deletePetsByPetId placeOrder", "writes": "addPet deletePetsByPetId placeOrder",
		"all": "addPet deletePetsByPetId listPets pets_get placeOrder", "none": "",
	} {
		var asked []string
		for name, v := range imported(t, document(t, "petshop.yaml"), openapi.Options{ApprovalMode: approve}).Tools {
			if v.(map[string]any)["_approval"] == true {
				asked = append(asked, name)
			}
		}
		slices.Sort(asked)
		if got := strings.Join(asked, " "); got != want {
			t.Errorf("%q: %s", approve, got)
		}
	}
}

func TestOptionsThatMeanNothingAreRefused(t *testing.T) {
	t.Parallel()
	for _, o := range []openapi.Options{{ApprovalMode: "some"}, {ServerURL: "ftp://h"}, {ServerURL: "h.example"},
		{ServerURL: "https://h?x=1"}, {ServerURL: "https://h/{x}"},
		{ServerURL: "https://u:p@h"}, {ServerURL: "$env:"}, {SecretPrefix: "a"}, {SecretPrefix: "A-B"},
		{SecretPrefix: "1A"}} {
		if _, err := openapi.Import(document(t, "petshop.yaml"), o); err == nil ||
			!strings.HasPrefix(err.Error(), "openapi: import: ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestTheServerIsTheNearestOneUnlessItIsSaid(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ root, item, operation, said, want string }{
		{`[{"url": "https://a"}, {"url": "https://b"}]`, ``, ``, ``, "https://a/x"},
		{`[{"url": "https://a/v1/"}]`, `"servers": [{"url": "https://b"}],`, ``, ``, "https://b/x"},
		{`[{"url": "https://a"}]`, `"servers": [{"url": "https://b"}],`,
			`"servers": [{"url": "https://c/{v}", "variables": {"v": {"default": "2"}}}]`, ``, "https://c/2/x"},
		{`[{"url": "https://a"}]`, ``, ``, "https://said/api/", "https://said/api/x"},
		{`[]`, ``, ``, "$env:BASE", "$env:BASE/x"},
		{`[{"url": "/api"}]`, ``, ``, "", ""},
		{`[{"url": "https://{host}"}]`, ``, ``, "", ""},
		{`[{"url": "https://u:p@a"}]`, ``, ``, "", ""},
		{`[{"url": "https://a?key=1"}]`, ``, ``, "", ""},
		{`[]`, ``, ``, "", ""},
	} {
		r, err := openapi.Import(fmt.Appendf(nil,
			`{"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "servers": %s, "paths": {"/x": {%s "get": {"operationId": "x", %s}}}}`,
			row.root, row.item, strings.TrimPrefix(row.operation+`, "summary": "s"`, ", ")),
			openapi.Options{ServerURL: row.said})
		if row.want == "" {
			if err == nil || !strings.Contains(err.Error(), "say which") ||
				strings.Contains(row.root, `"/api"`) && !strings.HasSuffix(err.Error(), "with --server https://HOST/api") {
				t.Errorf("%+v: %v", row, err)
			}
			continue
		}
		if err != nil || specOf(t, r.Tools["x"]).URL != row.want {
			t.Errorf("%+v: %v %v", row, err, r)
		}
	}
}

func TestWhatIsNoDocumentOfOpenAPI3IsRefused(t *testing.T) {
	t.Parallel()
	const tooMany = 1_000_000 // values for their few bytes
	for text, want := range map[string]string{
		``:                           "the file is empty",
		`{}`:                         "it names no version",
		`[]`:                         "read document: it is no OpenAPI document, but array: []",
		`<html>Swagger UI</html>`:    `it is no OpenAPI document, but string: "<html>Swagger UI</html>"`,
		`{"openapi": `:               "line 1: ",
		"openapi: 3.0.0\n\tpaths:\n": "read document",
		`{"swagger": "2.0"}`:         "Swagger 2.0",
		`{"openapi": "4.0.0"}`:       "it is of OpenAPI 4.0.0; want 3.0 or 3.1",
		`{"openapi": "3.0.0"}`:       "the document describes no operation",
		`{"openapi": "3.1.0", "paths": {"/x": {"trace": {}}}}`: "the document describes no operation",
		`{"x": [1` + strings.Repeat(",1", tooMany) + `]}`:      "read document: it has more than",
		"x:" + strings.Repeat("\n- 1", tooMany):                "read document: it has more than",
	} {
		if _, err := openapi.Import([]byte(text), openapi.Options{}); err == nil ||
			!strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "openapi: ") {
			t.Errorf("%.100q: %v, want %q", text, err, want)
		}
	}
}
