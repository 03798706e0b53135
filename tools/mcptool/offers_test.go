package mcptool_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/ideafile/mcppalette"
	"processidea/model/jsonval"
	"processidea/tools/mcptool/mcptest"
)

func TestToolsThatCannotBeReadKeepNoOtherFromBeingUsed(t *testing.T) {
	t.Parallel()
	s, host := served(t, plainly(`{"tools": [
		{"name": "vast", "inputSchema": {"type": "object", "properties": {"n": {"minimum": -1E400}}}},
		{"name": 7, "inputSchema": {}}, "none", {"name": "twice", "inputSchema": "{\"type\": \"object\"}"},
		{"name": "look", "title": "Look it up", "inputSchema": {"type": "object"},
		 "annotations": {"title": "Another", "readOnlyHint": true, "destructiveHint": true}},
		{"name": "drop", "inputSchema": {"type": "object"}, "annotations": {"title": "Drop it", "destructiveHint": true}},
		{"name": "odd", "title": 7, "inputSchema": {"type": "object"}, "annotations": "x"}]}`,
		`{"content": "ok"}`))
	h := hub(t, "", host, nil)
	offers, err := h.ListTools(t.Context(), s)
	said := map[string]string{}
	for _, o := range offers {
		said[o.Name] = fmt.Sprint(o.Title, "/", o.Undo)
		if (o.UnreadableReason != "") != (o.Name == "vast" || o.Name == "" || o.Name == "twice") {
			t.Errorf("%+v", o)
		}
	}
	want := map[string]string{"vast": "/", "": "/", "twice": "/",
		"look": "Look it up/none", "drop": "Drop it/never", "odd": "/"}
	if err != nil || !maps.Equal(said, want) {
		t.Errorf("%v, want %v, %v", said, want, err)
	}
	if v, err := callOf(t, h, s, "look", `{}`); err != nil || v != "ok" {
		t.Errorf("%v, %v", v, err)
	}
}

// It is not parallel, so that no other test's memory counts.
func TestAListOfVeryManyToolsIsRefusedAndTakesLittleMemory(t *testing.T) {
	s, host := served(t, plainly(`{"tools": [`+strings.Repeat("{},", 1_000_000)+`{}]}`, ""))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	refusal(t, hub(t, "", host, nil), s, "it offers more than 1000 tools")
	runtime.ReadMemStats(&after)
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 300 {
		t.Errorf("it took %d MB in all", mb)
	}
}

func TestAListThatNeverEndsIsRefused(t *testing.T) {
	t.Parallel()
	var pages atomic.Int32
	nextPage := func() string { return fmt.Sprint(pages.Add(1)) }
	large := fmt.Sprintf(`{"name": "t", "description": %q, "inputSchema": {"type": "object"}}`,
		strings.Repeat("x", 6<<20))
	for want, page := range map[string]struct {
		tools  string
		cursor func() string
	}{
		`the cursor "a" comes again`: {"", func() string { return "a" }},
		"more than 200 pages":        {"", nextPage},
		"larger than 16 MB":          {large, nextPage},
	} {
		s, host := served(t, plain(func(method string, _ json.RawMessage) string {
			return map[string]string{"initialize": "{}", "tools/list": fmt.Sprintf(`{"tools": [%s], "nextCursor": %q}`,
				page.tools, page.cursor())}[method]
		}))
		refusal(t, hub(t, "", host, nil), s, want)
	}
	if n := pages.Load(); n > 300 {
		t.Errorf("%d pages were asked for", n)
	}
}

// What Zod, Pydantic and others write is used as far as it can be, and what is left out is said.
func TestAServersSchemaIsUsedAsFarAsItCanBe(t *testing.T) {
	t.Parallel()
	list := `{"tools": [
	  {"name": "mail", "description": "` + strings.Repeat("x", 1<<20) + `", "inputSchema": {"type": "object", "required": ["to"],
	    "properties": {"to": {"type": "string", "pattern": "^(?!\\.)[a-z]+@[a-z.]+$"}, "_meta": {"type": "object"}, "item": {"$ref": "https://shop.example/item.json"},
	      "pattern": {"type": "string"}},
	    "$defs": {"item": {"$id": "https://shop.example/item.json", "type": "object", "properties": {"n": {"$ref": "#/$defs/count"}}, "$defs": {"count": {"type": "integer"}}}}}},
	  {"name": "mail", "inputSchema": {"type": "object"}},
	  {"name": "odd", "inputSchema": {"type": "object", "required": ["_x"], "properties": {"_x": {}}}}]}`
	s, host := served(t, plainly(list, `{"content": [{"type": "text", "text": "sent"}]}`))
	h := hub(t, "", host, nil)
	offers, err := h.ListTools(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, tools := range []string{"", `, "tools": ["mail"]`} {
		idea, ps := ideafile.ParseIdea([]byte(`{"config": {"mcp": {"far": {"url": "` + s.URL + `"` + tools + `}}}}`))
		if len(ps.Errors()) > 0 {
			t.Fatal(ps)
		}
		f := mcppalette.ResolveTools(idea, map[string][]mcppalette.ToolSpec{"far": offers})
		after, ps := ideafile.ReadIdea(f.AddToIdeaSource(idea.Source))
		if len(f.Problems) > 0 || len(ps.Errors()) > 0 {
			t.Fatal(f.Problems, ps)
		}
		mail := after.Tool("far_mail")
		for params, fits := range map[string]bool{
			`{"to": ".a@b.c", "item": {"n": 1}, "pattern": "x"}`: true, `{"to": "a", "item": {"n": "one"}}`: false,
			`{}`: false,
		} {
			if err := mail.ParamsSchema.Validate(mustDecode(t, params)); (err == nil) != fits {
				t.Errorf("%s: %v", params, err)
			}
		}
		notes := strings.Join(after.MCPOmissionNotes(), "\n")
		for _, want := range []string{
			`tool mail: only the server checks the pattern of to: ^(?!\.)[a-z]+@[a-z.]+$`,
			"optional parameter _meta is left out",
			"mail: its description has 1048576 bytes and is cut at 8192", "mail: it is listed twice; the first counts",
		} {
			if !strings.Contains(notes, want) {
				t.Errorf("%q is missing in\n%s", want, notes)
			}
		}
		if tools == "" && !strings.Contains(notes,
			`odd: it is left out: the server's tool "odd" cannot be used: it requires the parameter _x`) {
			t.Error(notes)
		}
	}
	if got, failed := callOf(t, h, s, "mail", `{"to": "a@b.c"}`); failed != nil || got != "sent" {
		t.Errorf("%v, %v", got, failed)
	}
	if _, err := hub(t, os.Args[0]+" *", "", nil).ListTools(t.Context(), program(mcptest.ServerArgument)); err != nil {
		t.Error(err)
	}
}

func mustDecode(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonval.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAServersParametersKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s, host := served(t, plainly(`{"tools": [{"name": "look", "inputSchema": {"type": "object", "properties":
		{"to": {"type": "object", "properties": {"name": {}, "iban": {}}}, "amount": {"default": {"properties": {"b": 1, "a": 2}}}}}}]}`,
		`{"content": "ok"}`))
	offers, err := hub(t, "", host, nil).ListTools(t.Context(), s)
	if err != nil || len(offers) != 1 {
		t.Fatal(offers, err)
	}
	want := `{"_order":["to","amount"],"properties":{"amount":{"default":{"properties":{"a":2,"b":1}}},"to":{"_order":["name","iban"],` +
		`"properties":{"iban":{},"name":{}},"type":"object"}},"type":"object"}`
	if got := string(jsonval.Encode(offers[0].InputSchema)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
