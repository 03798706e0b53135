package openapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"processidea/model/check"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/tools/httptool"
	"processidea/tools/httptool/openapi"
	"processidea/tools/kinds"
)

var update = flag.Bool("update", false, "write the golden files anew")

func document(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func imported(t *testing.T, data []byte, o openapi.Options) *openapi.Result {
	t.Helper()
	r, err := openapi.Import(data, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var documents = []string{"petshop.yaml", "orders.json"}

func TestADocumentBecomesTheseTools(t *testing.T) {
	t.Parallel()
	for _, name := range documents {
		r := imported(t, document(t, name), openapi.Options{})
		var got bytes.Buffer
		e := json.NewEncoder(&got)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(r); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if want := document(t, name+".golden"); !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: the Tools are others; see them with -update\n%s", name, &got)
		}
	}
}

func TestWhatIsImportedPassesTheCheck(t *testing.T) {
	t.Parallel()
	for _, name := range documents {
		r := imported(t, document(t, name), openapi.Options{ApprovalMode: openapi.ApproveNone})
		idea, problems := ideafile.ReadIdea(map[string]any{
			"schema":  map[string]any{"tools": r.Tools},
			"context": []any{map[string]any{"type": "text", "text": "Look after the pets."}},
		})
		if errs := problems.Errors(); len(errs) > 0 {
			t.Fatalf("%s: %s", name, errs)
		}
		bindings, wrong := kinds.NewKnownTools(nil, nil).Bind(idea)
		if problems := append(wrong, check.Check(idea, bindings)...).Errors(); len(problems) > 0 {
			t.Errorf("%s: %s", name, problems)
		}
		for tool, b := range bindings {
			if b.Kind != ideafile.KindHTTP {
				t.Errorf("%s: %s is of kind %s", name, tool, b.Kind)
			}
		}
	}
}

func TestEveryParameterOfAToolIsSentAndNoOtherIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, name := range documents {
		for tool, v := range imported(t, document(t, name), openapi.Options{}).Tools {
			declared := []string{}
			for p := range v.(map[string]any)["properties"].(map[string]any) {
				declared = append(declared, p)
			}
			slices.Sort(declared)
			if sent := specOf(t, v).ParameterNames(); !slices.Equal(sent, declared) {
				t.Errorf("%s: %s has %q and sends %q", name, tool, declared, sent)
			}
		}
	}
}

func specOf(t *testing.T, tool any) httptool.Spec {
	t.Helper()
	spec, err := httptool.ParseSpec(tool.(map[string]any)["_activity"].(map[string]any)["http"])
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestAnImportedToolIsCalled(t *testing.T) {
	t.Parallel()
	var asked string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		asked = fmt.Sprintf("%s %s %s|%s|%s|%s", r.Method, r.RequestURI,
			r.Header.Get("X-Api-Key")+r.Header.Get("Authorization"),
			r.Header.Get("X-Request-ID"), r.Header.Get("Content-Type"), &body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`[{"id": 1, "name": "Ada", "owner": null, "parents": []}]`))
	}))
	defer s.Close()
	client := httptool.New(httptool.Options{AllowList: strings.TrimPrefix(s.URL, "http://"),
		AllowedSecrets: "API_KEY@* PETSHOP_*@* PATH*@* A*@* B*@* S*@*",
		LookupEnv:      func(n string) (string, bool) { return "secret-of-" + n, true }})
	defer client.Close()
	petshop := imported(t, document(t, "petshop.yaml"), openapi.Options{ServerURL: s.URL + "/api/"})
	orders := imported(t, document(t, "orders.json"), openapi.Options{ServerURL: s.URL, SecretPrefix: "SHOP_"})
	for _, row := range []struct {
		r                        *openapi.Result
		tool, params, want, fits string
	}{
		{petshop, "listPets",
			`{"limit": 5, "status": ["free", "sold"], "tags": "a,b c", "X-Request-ID": "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}`,
			"GET /api/pets?status=free&status=sold&tags=a%2Cb%20c&limit=5 " +
				"secret-of-API_KEY|6ba7b810-9dad-11d1-80b4-00c04fd430c8||", "yes"},
		{petshop, "listPets", `{"limit": 5}`, "GET /api/pets?limit=5 secret-of-API_KEY|||", "yes"},
		{petshop, "addPet", `{"name": "Ada", "born": null, "parents": [{"name": "Bob"}]}`,
			`POST /api/pets Bearer secret-of-PETSHOP_AUTH||application/json|{"born":null,"name":"Ada","parents":[{"name":"Bob"}]}`, "no"},
		{petshop, "pets_get", `{"pet-id": 7}`, "GET /api/pets/7 secret-of-API_KEY|||", "no"},
		{petshop, "deletePetsByPetId", `{"pet-id": 7}`, "DELETE /api/pets/7 secret-of-API_KEY|||", ""},
		{petshop, "placeOrder", `{"petId": 7, "note": "a&b"}`,
			"POST /api/orders secret-of-API_KEY||application/x-www-form-urlencoded|note=a%26b&petId=7", "no"},
		{orders, "searchItems", `{"orderId": "a/b", "filter_sku": "x", "filter_price": 1.50, "number": 2, "q": {"a": [1]}, "flags": "x|y",
			"header_orderId": "h", "body": {"by": "name", "name": null}}`,
			`POST /orders/a%2Fb/items:search?filter[price]=1.50&filter[sku]=x&number=2&q=%7B%22a%22%3A%5B1%5D%7D&flags=x%7Cy&tenant[key]=secret-of-SHOP_TENANT_KEY ` +
				`Bearer secret-of-SHOP_BEARER_AUTH||application/vnd.orders+json|{"by":"name","name":null}`, "no"},
		{orders, "getHealth", `{}`, "GET /health |||", ""},
		{orders, "login", `{}`, "POST /login Basic secret-of-SHOP_BASIC_AUTH||application/json|{}", ""},
	} {
		params, err := jsonval.DecodeObject([]byte(row.params))
		if err != nil {
			t.Fatal(err)
		}
		form, err := jsonschema.CompileSchema(row.r.Tools[row.tool])
		if err != nil {
			t.Fatal(err)
		}
		if err := form.Validate(params); err != nil {
			t.Errorf("%s: %v", row.tool, err)
		}
		result, err := client.Do(t.Context(), specOf(t, row.r.Tools[row.tool]), params, nil, "k")
		if err != nil || asked != row.want {
			t.Errorf("%s asked\n%s, want\n%s (%v)", row.tool, asked, row.want, err)
		}
		output := row.r.Tools[row.tool].(map[string]any)["_output"]
		if (output == nil) != (row.fits == "") {
			t.Errorf("%s has the output %v", row.tool, output)
		}
		if output == nil {
			continue
		}
		form, err = jsonschema.CompileSchema(output)
		if err != nil {
			t.Fatal(err)
		}
		if err := form.Validate(result); (err == nil) != (row.fits == "yes") {
			t.Errorf("%s: the result fits: %v", row.tool, err)
		}
	}
}

func TestPeopleAreShownParametersAsTheDocumentHasThem(t *testing.T) {
	t.Parallel()
	const document = `{"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "servers": [{"url": "https://a.example"}],
"paths": {"/pay/{shop}": {"post": {"operationId": "pay",
  "parameters": [{"name": "shop", "in": "path", "required": true, "schema": {"type": "string"}}, {"name": "dry", "in": "query", "schema": {"type": "boolean"}}],
  "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Payment"}}}}, "responses": {"200": {"description": "ok"}}}}},
"components": {"schemas": {
  "Payment": {"type": "object", "required": ["amount"], "properties": {"to": {"$ref": "#/components/schemas/Party"}, "note": {"type": "string", "BROKEN": 1},
    "amount": {"type": "number"}, "id": {"type": "string", "readOnly": true}}},
  "Party": {"type": "object", "properties": {"name": {"type": "string"}, "iban": {"type": "string"}}, "example": {"properties": {"b": 1, "a": 2}}}}}}`
	yaml := strings.ReplaceAll(document, "\n", "\n ")
	for name, text := range map[string]string{
		"JSON": strings.Replace(document, `, "BROKEN": 1`, "", 1), "YAML": "# \n" + strings.Replace(yaml, `, "BROKEN": 1`, "", 1),
		"mended": strings.Replace(document, `"BROKEN": 1`, `"minLength": -1`, 1),
	} {
		r := imported(t, []byte(text), openapi.Options{})
		if name != "mended" && len(r.Notes) > 0 {
			t.Errorf("%s: %q", name, r.Notes)
		}
		tool := r.Tools["pay"]
		idea, ps := ideafile.ReadIdea(map[string]any{"schema": map[string]any{"tools": r.Tools}})
		if len(ps.Errors()) > 0 {
			t.Fatal(ps)
		}
		c := shown.NewPresenter(idea).Call("pay", map[string]any{"shop": "1", "dry": true, "note": "2", "amount": "3",
			"to": map[string]any{"iban": "4", "name": "5"}}, "", shown.InstanceValues{}, shown.English)
		got := jsonval.Map(c.Fields, func(f shown.Field) string { return f.Name })
		if want := "shop dry to.name to.iban note amount"; strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s\n%s", name, got, want, jsonval.Encode(tool))
		}
		// what the LLM reads first stays
		if got := string(jsonval.Encode(jsonval.Lookup(tool, "required"))); got != `["shop","amount"]` {
			t.Errorf("%s: it requires %s", name, got)
		}
	}
}
