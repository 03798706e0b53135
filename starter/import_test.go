package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/starter/internal/exit"
)

const petsDocument = `
openapi: 3.0.3
info: {title: Pets, version: "1"}
servers: [{url: https://pets.example/v2}]
security: [{api_key: []}]
paths:
  /pets/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get: {operationId: getPet, responses: {"200": {description: it, content: {application/json: {schema: {type: object}}}}}}
    delete: {operationId: dropPet, parameters: [{name: sid, in: cookie, schema: {type: string}}], responses: {"204": {description: gone}}}
components: {securitySchemes: {api_key: {type: apiKey, in: header, name: X-Key}}}
`

func TestToolsOfAnOpenAPIDocumentStandInAnIdeaAndPassTheCheck(t *testing.T) {
	d := newDesk(t, map[string]string{"pets.yaml": petsDocument})
	e := d.do("tools", "import", "pets.yaml", "--approve", "none").is(exit.Done).
		complains(
			`starter: import pets.yaml: DELETE /pets/{id}: cookie parameter "sid" is left out: an HTTP tool sends none`).
		complains("import pets.yaml: 2 Tools; the worker needs API_KEY@pets.example (the key of api_key), named in " +
			"PROCESSIDEA_TOOL_SECRETS; PROCESSIDEA_HTTP_ALLOW must name pets.example")
	idea := `{"schema": ` + e.out + `, "context": [{"type": "text", "text": "Look after the pets."}]}`
	if err := os.WriteFile(filepath.Join(d.dir, "idea.json"), []byte(idea), 0o600); err != nil {
		t.Fatal(err)
	}
	d.do("check", "idea.json").is(exit.Done)
	d.do("tools", "import", "pets.yaml", "--server", "http://pets.internal:8080").is(exit.Done).
		complains("the worker needs API_KEY@http://pets.internal:8080 (").complains("must name pets.internal:8080")

	d.do("tools", "import", "pets.yaml", "-o", "tools.json", "--only", "dropPet", "--server", "$env:PETS", "--secrets",
		"SHOP_").is(exit.Done).quiet()
	data, err := os.ReadFile(filepath.Join(d.dir, "tools.json"))
	var written struct{ Tools map[string]map[string]any }
	if err != nil || json.Unmarshal(data, &written) != nil || len(written.Tools) != 1 ||
		written.Tools["dropPet"]["_approval"] != true {
		t.Errorf("%v %s", err, data)
	}
	if text := string(data); !strings.Contains(text, `"$env:PETS/pets/{id}"`) ||
		!strings.Contains(text, `"$env:SHOP_API_KEY"`) {
		t.Error(text)
	}
	var r struct {
		Tools   map[string]any    `json:"tools"`
		Notes   []string          `json:"notes"`
		Secrets map[string]string `json:"secrets"`
		Hosts   []string          `json:"hosts"`
	}
	d.do("tools", "import", "pets.yaml", "--json").is(exit.Done).json(&r)
	if len(r.Tools) != 2 || len(r.Notes) != 1 || r.Secrets["API_KEY"] == "" || len(r.Hosts) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestADocumentThatCannotBeImportedIsBadUsage(t *testing.T) {
	d := newDesk(t, map[string]string{"pets.yaml": petsDocument, "swagger.json": `{"swagger": "2.0"}`})
	for line, want := range map[string]string{
		"tools import none.json":                     "read none.json: no such file",
		"tools import swagger.json":                  "import swagger.json: read document: it is of Swagger 2.0",
		"tools import pets.yaml --only getDog":       `no operation "getDog"; there are getPet, dropPet`,
		"tools import pets.yaml --approve perhaps":   `approve "perhaps"`,
		"tools import pets.yaml --server ftp://pets": `server "ftp://pets"`,
		"tools import pets.yaml -o no/such/folder":   "write tools: no such file",
		"tools import":   "tools import: FILE is missing; want ",
		"tools export x": "unknown command",
	} {
		d.do(strings.Fields(line)...).is(exit.Usage).quiet().complains(want)
	}
}
