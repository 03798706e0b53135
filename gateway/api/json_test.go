package api

import (
	"testing"

	"processidea/model/jsonval"
)

func TestAnIdeaInABodyKeepsTheOrderOfItsParameters(t *testing.T) {
	t.Parallel()
	const (
		idea   = `{"schema": {"tools": {"pay": {"properties": {"to": {}, "amount": {"minimum": 1.10}}}}}}`
		bodies = `{"id": "x", "at": 1, "idea": ` + idea + `, "delegates": {"d.json": ` + idea + `}, "instances": [{"properties": {"b": 1, "a": 2}}]}`
		want   = `{"schema":{"tools":{"pay":{"_order":["to","amount"],"properties":{"amount":{"minimum":1.10},"to":{}}}}}}`
	)
	var start startBody
	var schedule scheduleBody
	var fork forkInput
	for _, into := range []any{&start, &schedule, &fork.Body} {
		if err := unmarshal([]byte(bodies), into); err != nil {
			t.Fatal(err)
		}
	}
	for name, got := range map[string]any{
		"a start": start.Idea, "its delegate": start.DelegateFiles["d.json"], "a schedule": schedule.Idea,
		"what a fork adds": fork.Body.AddedIdea, "a fork's delegate": fork.Body.Delegates["d.json"],
	} {
		if text := string(jsonval.Encode(got)); text != want {
			t.Errorf("%s: %s, want %s", name, text, want)
		}
	}
	var plain any
	rows := `[{"properties":{"a":2,"b":1}}]`
	if err := unmarshal([]byte(idea), &plain); err != nil || jsonval.Lookup(plain, "schema", "tools", "pay", "_order") != nil {
		t.Errorf("data becomes %s, %v", jsonval.Encode(plain), err)
	}
	if got := string(jsonval.Encode(jsonval.ToJSONValue(start.InstanceRows))); got != rows {
		t.Errorf("the instances become %s", got)
	}
}
