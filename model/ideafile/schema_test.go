package ideafile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"processidea/client/ideafiles"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// beyondForm is said of what no JSON Schema can tell: what a schema, a Reference, a name or a place refers to.
var beyondForm = []string{
	"compile schema: ", "the palette has no tool", `: path "`, "only State can be written", "must begin with †",
	"lies within the other",
	"it never happens: nobody is waited for", "an undo can read only", "reference \"†result",
	"want a status, or how many instances have which", "unknown tool", "there are two steps", "$.instruction: it is empty",
}

// ideaSchema is the schema that editors check Idea files with.
var ideaSchema = func() *jsonschema.Schema {
	source, err := jsonval.DecodeObject(ideafiles.Schema)
	if err != nil {
		panic(err)
	}
	s, err := jsonschema.CompileSchema(source)
	if err != nil {
		panic(err)
	}
	return s
}()

// formIsRefused fails where the schema takes a file that the reader refuses with an error, unless that is beyond its
// form.
func formIsRefused(t *testing.T, idea, said string) {
	t.Helper()
	v, err := jsonval.Decode([]byte(idea))
	if err != nil || slices.ContainsFunc(beyondForm, func(text string) bool { return strings.Contains(said, text) }) {
		return
	}
	if ideaSchema.Validate(v) == nil {
		t.Errorf("the schema takes %s, of which the reader says %q", idea, said)
	}
}

// Where a key is unknown, the reader lists those that there are: the schema has the same.
func TestTheSchemaHasTheKeysThatTheReaderHas(t *testing.T) {
	t.Parallel()
	for place, idea := range map[string]string{
		"properties":                   `{"zz": 1}`,
		"properties.config.properties": `{"config": {"zz": 1}}`,
		"properties.config.properties.limits.properties":   `{"config": {"limits": {"zz": 1}}}`,
		"properties.config.properties.approval.properties": `{"config": {"approval": {"zz": 1}}}`,
		"properties.schema.properties":                     `{"schema": {"zz": 1}}`,
		"$defs.llm.properties":                             `{"config": {"llm": {"zz": 1}}}`,
		"$defs.price.properties":                           `{"config": {"prices": {"m": {"zz": 1, "input": 1, "output": 1}}}}`,
		"$defs.mcpServer.properties":                       `{"config": {"mcp": {"m": {"url": "x", "zz": 1}}}}`,
		"$defs.by.properties":                              `{"config": {"approval": {"by": {"zz": 1}}}}`,
		"$defs.escalate.properties":                        `{"config": {"approval": {"escalate": {"zz": 1, "after": "1h", "by": {"people": ["a"]}}}}}`,
		"$defs.approval.anyOf.1.properties":                `{"schema": {"tools": {"t": {"_approval": {"zz": 1}}}}}`,
		"$defs.tool.propertyNames.anyOf.1.enum":            `{"schema": {"tools": {"t": {"_zz": 1}}}}`,
		"$defs.message.allOf.0.then.properties":            `{"context": [{"type": "text", "text": "", "zz": 1}]}`,
	} {
		_, ps := ideafile.ParseIdea([]byte(idea))
		_, list, listed := strings.Cut(ps.Error(), " has ")
		if !listed {
			_, list, listed = strings.Cut(ps.Error(), "there are ")
		}
		if len(ps.Errors()) != 1 || (!listed && !strings.Contains(place, "message")) {
			t.Errorf("%s: %s", idea, ps)
			continue
		}
		said := strings.FieldsFunc(strings.ReplaceAll(strings.ReplaceAll(list, " and ", " "), " or ", " "),
			func(r rune) bool { return !(r == '_' || r >= 'A' && r <= 'z') })
		known := keysAt(t, place)
		for _, key := range said {
			if !slices.Contains(known, key) {
				t.Errorf("%s lacks %q, of which the reader says %s", place, key, ps)
			}
		}
		for _, key := range known {
			if listed && key != "$schema" && key != "" && !slices.Contains(said, key) {
				t.Errorf("%s has %q, which the reader does not name: %s", place, key, ps)
			}
		}
	}
}

// keysAt lists the names at a place of the schema: the keys of an object, or the texts of a list.
func keysAt(t *testing.T, place string) (names []string) {
	t.Helper()
	at, err := jsonval.Decode(ideafiles.Schema)
	if err != nil {
		t.Fatal(err)
	}
	for step := range strings.SplitSeq(place, ".") {
		if list, ok := at.([]any); ok {
			n, err := strconv.Atoi(step)
			if err != nil || n >= len(list) {
				t.Fatalf("the schema has no %s", place)
			}
			at = list[n]
			continue
		}
		at = jsonval.AsObject(at)[step]
	}
	if list, ok := jsonval.AsStringList(at); ok {
		return list
	}
	if names = jsonval.SortedKeys(jsonval.AsObject(at)); len(names) == 0 {
		t.Fatalf("the schema has no %s", place)
	}
	return names
}

func TestTheSchemaTakesEveryExample(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonval.Decode(data)
		if source := jsonval.AsObject(v); err != nil || source["context"] == nil && source["schema"] == nil {
			continue // it is no Idea
		}
		if _, ps := ideafile.ReadIdea(v); len(ps.Errors()) > 0 {
			t.Errorf("%s: %s", file, ps)
		}
		if err := ideaSchema.Validate(v); err != nil {
			t.Errorf("%s: %s", file, err)
		}
		taken++
	}
	if taken < 10 {
		t.Errorf("there were %d examples", taken)
	}
}
