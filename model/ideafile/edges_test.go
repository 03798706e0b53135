package ideafile_test

import (
	"reflect"
	"strings"
	"testing"

	"processidea/client/ideafiles"
	"processidea/model/ideafile"
	"processidea/model/modeltest"
)

// edgesIdea has what the numbers of an Idea file are about.
const edgesIdea = `{"config": {"llm": {}, "fairness": {"key": "a"}}, "schema": {"tools": {"shout": {"type": "object", "properties": {"text": {"type": "string"}}}}}, "context": []}`

// beyondSchema is said of numbers that no JSON Schema can tell from others: the sum of a duration's parts, and digits
// after the point.
var beyondSchema = []string{"want a duration", "nine digits after the point"}

// The table is made from the JSON Schema, so that a new number or duration is in it by itself.
func TestEveryNumberIsReadToItsEdgesOrRefused(t *testing.T) {
	t.Parallel()
	leaves := modeltest.NumberFields(modeltest.MustDecodeJSON(string(ideafiles.Schema)).(map[string]any))
	if len(leaves) < 25 {
		t.Errorf("the schema has only %d numbers: %v", len(leaves), leaves)
	}
	for _, leaf := range leaves {
		t.Run(leaf.String(), func(t *testing.T) {
			t.Parallel()
			base := modeltest.MustDecodeJSON(edgesIdea).(map[string]any)
			if !leaf.IsDuration && (leaf.Minimum == "" || leaf.Maximum == "") {
				t.Fatal("the schema does not say its smallest and its largest number")
			}
			for _, value := range leaf.EdgeValues() {
				readAtEdge(t, leaf, base, value)
			}
			least, refused := readAtEdge(t, leaf, base, leaf.MinimumJSON())
			most, refusedMost := readAtEdge(t, leaf, base, leaf.MaximumJSON())
			if refused != "" || refusedMost != "" {
				t.Errorf("it does not take its smallest, %s, or its largest, %s: %s%s", leaf.MinimumJSON(), leaf.MaximumJSON(),
					refused, refusedMost)
			}
			if reflect.DeepEqual(least, most) {
				t.Error("the smallest and the largest are read alike")
			}
		})
	}
}

// readAtEdge reads an Idea with a value at a place. The schema for editors must say of it what the reader says.
func readAtEdge(t *testing.T, leaf modeltest.NumberField, base map[string]any,
	value string) (read *ideafile.Idea, refused string) {
	t.Helper()
	idea := leaf.WithValue(base, modeltest.MustDecodeJSON(value))
	read, problems := ideafile.ReadIdea(idea)
	bySchema := ideaSchema.Validate(idea)
	said := problems.Errors()
	switch {
	case len(said) == 0 && bySchema != nil:
		t.Errorf("%s: the reader takes it, and the schema says %s", value, bySchema)
	case len(said) > 1 || len(said) == 1 && !strings.Contains(said[0].Message, "want"):
		t.Errorf("%s: it is refused without one sentence that says what is wanted: %s", value, said)
	case len(said) == 1 && bySchema == nil && !sayOneOf(said[0].Message, beyondSchema):
		t.Errorf("%s: the schema takes it, and the reader says %s", value, said)
	}
	if len(said) > 0 {
		return nil, said[0].Message
	}
	withoutSource(read)
	return read, ""
}

func sayOneOf(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// withoutSource leaves of an Idea what was read, so that two can be compared.
func withoutSource(i *ideafile.Idea) {
	i.Source = nil
	for _, tool := range i.Tools {
		tool.Source, tool.ParamsSchema, tool.SchemaByParam = nil, nil, nil
	}
	for n := range i.Context {
		i.Context[n].Source, i.Context[n].PlanViewCondition = nil, nil
	}
}
