package openapi

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"processidea/model/jsonval"
)

// Of a large document whose schemas all refer to each other, every operation becomes a Tool whose forms go as deep as
// there is room for. Whoever follows every way through it, as a validator does, comes to no end.
func TestALargeDocumentWhoseSchemasReferToEachOtherIsImported(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"openapi": "3.0.0", "info": {"title": "S", "version": "1", "description": %q}, `,
		strings.Repeat("long ", maxValidatedBytes/5))
	b.WriteString(`"servers": [{"url": "https://api.test"}], "paths": {`)
	const operations, schemas = 60, 200
	for n := range operations {
		fmt.Fprintf(&b, `"/x%d": {"get": {"operationId": "get%d", "responses": {"200": {"description": "ok", "content": {"application/json": {"schema":
			{"$ref": "#/components/schemas/o%d"}}}}}}},`, n, n, n)
	}
	b.Truncate(b.Len() - 1)
	b.WriteString(`}, "components": {"schemas": {`)
	for n := range schemas {
		fmt.Fprintf(&b, `"o%d": {"type": "object", "properties": {"id": {"type": "string"}`, n)
		for k := range 8 {
			fmt.Fprintf(&b, `, "r%d": {"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/o%d"}]}`, k,
				(n*7+k*13)%schemas)
		}
		b.WriteString("}},")
	}
	b.Truncate(b.Len() - 1)
	b.WriteString("}}}")
	r, err := Import(b.Bytes(), Options{})
	if err != nil || len(r.Tools) != operations {
		t.Fatalf("%d Tools, %v", len(r.Tools), err)
	}
	for _, note := range []string{"the form of its result is too large and was cut", "was not checked"} {
		if !slices.ContainsFunc(r.Notes, func(s string) bool { return strings.Contains(s, note) }) {
			t.Errorf("nothing says %q", note)
		}
	}
	form := string(jsonval.Encode(r.Tools["get7"].(map[string]any)["_output"]))
	if len(form) > maxResultSchemaBytes || !strings.Contains(form, `"r7":{"anyOf":[{"type":"string"},{"properties"`) {
		t.Errorf("%d bytes: %.300s", len(form), form)
	}
}

func TestOfVeryManyNotesTheFirstAreListedAndTheOthersCounted(t *testing.T) {
	t.Parallel()
	for name, method := range map[string]string{"no Tool can be made": "get",
		"the document describes no operation": "trace"} {
		var b strings.Builder
		b.WriteString(`{"openapi": "3.0.0", "info": {"title": "S", "version": "1"}, "paths": {"/x0": {}`)
		for n := range 1000 {
			fmt.Fprintf(&b, `, "/y%d": {%q: {}}`, n, method) // without a server, no Tool can be made
		}
		b.WriteString("}}")
		_, err := Import([]byte(b.String()), Options{})
		if err == nil || !strings.Contains(err.Error(), name) || strings.Count(err.Error(), "; ") != 100 ||
			!regexp.MustCompile(`; and 90[01] more$`).MatchString(err.Error()) {
			t.Errorf("%s: %d notes, %v", name, strings.Count(fmt.Sprint(err), "; "), err)
		}
	}
}
