package openapi_test

import (
	"os"
	"path/filepath"
	"testing"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/tools/httptool"
	"processidea/tools/httptool/openapi"
)

func FuzzNoDocumentBreaksTheImportAndEveryToolOfItIsOne(f *testing.F) {
	for _, name := range documents {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(
		[]byte(
			`{"openapi": "3.1.0", "servers": [{"url": "http://h"}], "paths": {"/x/{a}": {"get": {"parameters": [{"$ref": "#/paths/~1x~1%7Ba%7D/get/parameters/0"}]}}}}`))
	f.Add(
		[]byte(
			`{"openapi": "3.1.0", "servers": [null], "paths": {"/x": null}, "components": {"schemas": {"A": {"$ref": "#/components/schemas/A"}}}}`))
	f.Add([]byte("openapi: 3.0.0\nservers: [{url: http://h}]\npaths: {/x: {get: &a {parameters: [{name: q, in: " +
		"query, schema: *a}]}}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := openapi.Import(data, openapi.Options{ApprovalMode: openapi.ApproveNone})
		if err != nil {
			return
		}
		for name, v := range r.Tools {
			var ps diag.Problems
			ideafile.ReadTool(name, v, "$", &ps)
			spec, err := httptool.ParseSpec(v.(map[string]any)["_activity"].(map[string]any)["http"])
			if len(ps.Errors()) > 0 || err != nil {
				t.Fatalf("%s: %s, %v", name, ps, err)
			}
			for _, s := range spec.SecretNames() {
				if r.DescriptionBySecret[s] == "" {
					t.Fatalf("%s names the secret %s, of which nothing is said", name, s)
				}
			}
		}
	})
}
