package prompt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/quality"
	"processidea/model/turn"
)

// Instances stand in an order by the seed: the same again, another in the next Request and when asked a second time.
// The rules, the palette and what all share stay in front, byte by byte.
func TestInstancesStandInAnOrderByTheSeed(t *testing.T) {
	t.Parallel()
	order := func(seed string, request int, again bool) (tokens []string, front string) {
		var context []string
		for n := range 9 {
			context = append(context, fmt.Sprintf(`{"type": "state", "_instance": "%d", "n": %d}`, n+1, n+1))
		}
		idea := modeltest.IdeaFrom(t, `{"meta": {"seed": "`+seed+`"}, "context": [`+strings.Join(context, ",")+`]}`)
		input := &turn.RequestInput{RequestNumber: request}
		for _, token := range idea.InstanceTokens() {
			input.Instances = append(input.Instances, turn.InstanceInput{Token: token, State: map[string]any{}})
		}
		if again {
			input.Recheck = &turn.Recheck{InstancePositionByToken: map[string]int{}}
			for place, n := range quality.ShuffledOrder(seed, request, quality.ShufflePurposeRequest,
				len(input.Instances)) {
				input.Recheck.InstancePositionByToken[input.Instances[n].Token] = place + 1
			}
		}
		messages := Render(idea, nil, input, nil)
		for line := range strings.Lines(messages[2].Content) {
			if token, _, found := strings.Cut(line, ": {}"); found {
				tokens = append(tokens, token)
			}
		}
		return tokens, messages[0].Content + messages[1].Content
	}
	first, front := order("s", 1, false)
	if sorted := slices.Sorted(slices.Values(first)); len(sorted) != 9 || slices.Equal(sorted, first) {
		t.Fatalf("they stand as %v", first)
	}
	if same, _ := order("s", 1, false); !slices.Equal(same, first) {
		t.Errorf("another order on replay: %v", same)
	}
	for name, c := range map[string]struct {
		seed    string
		request int
		again   bool
	}{"the next Request": {"s", 2, false}, "asked again": {"s", 1, true}, "another seed": {"t", 1, false}} {
		other, otherFront := order(c.seed, c.request, c.again)
		if slices.Equal(other, first) || otherFront != front {
			t.Errorf("%s: %v, with the same front: %v", name, other, otherFront == front)
		}
	}
	if plain, _ := order("", 1, false); !slices.IsSorted(plain) {
		t.Errorf("without a seed they stand as %v", plain)
	}
}

// withOrder has people shown the properties of every schema of an Idea the other way round.
func withOrder(t *testing.T, text string) (idea string, count int) {
	v := jsonval.AsObject(modeltest.DecodeJSON(t, text))
	reverse := func(schema any) {
		jsonschema.EachSubschema(schema, "", func(_ string, part jsonval.Object) {
			names := jsonschema.OrderedPropertyNames(jsonschema.Properties(part), jsonschema.Required(part))
			slices.Reverse(names)
			part["_order"] = jsonval.ToJSONValue(names)
			count++
		})
	}
	for _, tool := range jsonval.Sorted(jsonval.AsObject(jsonval.Lookup(v, "schema", "tools"))) {
		reverse(tool)
		reverse(jsonval.Lookup(tool, "_output"))
	}
	reverse(jsonval.Lookup(v, "schema", "output"))
	for _, m := range jsonval.AsList(v["context"]) {
		reverse(jsonval.Lookup(m, "schema"))
	}
	return jsonval.EncodeToString(v), count
}

func TestTheOrderThatPeopleAreShownIsNothingToTheLLM(t *testing.T) {
	t.Parallel()
	for _, p := range prompts {
		other, count := p, 0
		if other.idea, count = withOrder(t, p.idea); count == 0 && strings.Contains(p.idea, "properties") {
			t.Fatalf("%s has no schema", p.file)
		}
		if first, then := p.render(t), other.render(t); first != then {
			t.Errorf("%s:\n%s", p.file, modeltest.Diff(first, then))
		}
	}
	for _, c := range forms {
		source, _ := withOrder(t, `{"schema": {"tools": {`+c.tools+`}}}`)
		other := c
		tools := jsonval.EncodeToString(jsonval.Lookup(modeltest.DecodeJSON(t, source), "schema", "tools"))
		other.tools = strings.TrimSuffix(strings.TrimPrefix(tools, "{"), "}")
		first, then := NewResponseFormat(c.input(t)), NewResponseFormat(other.input(t))
		if !jsonval.Equal(first.Schema, then.Schema) {
			t.Errorf("%s: %s\nthen %s", c.name, jsonval.Encode(first.Schema), jsonval.Encode(then.Schema))
		}
	}
}
