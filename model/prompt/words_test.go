package prompt

import (
	"strings"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/turn"
)

// How people read a value is nothing that the LLM plans with.
func TestTheLLMIsNotSentHowPeopleReadACall(t *testing.T) {
	t.Parallel()
	const money = `{"title": "Amount", "type": "integer", "_display": "money", "currency": "XAU", "minorUnits": true}`
	idea := modeltest.IdeaFrom(t, `{"config": {"instanceName": "†`+"`order ${input.order}`"+`"}, "schema": {"tools": {
		"refund": {"title": "Refund", "_title": "†`+"`Refund ${amount} at once`"+`", "_order": ["to", "amount"],
			"description": "Pays back.", "type": "object", "required": ["amount"], "properties": {"amount": `+money+`,
			"to": {"type": "array", "items": {"type": "object", "properties": {"scan": {"type": "string", "_display": "image"}}}}}}}},
		"context": [{"type": "text", "text": "Pay."},
			{"type": "input", "schema": {"properties": {"cents": `+money+`}}, "input": {"cents": 5, "order": "A-1"}},
			{"type": "state", "schema": {"properties": {"paid": `+money+`}}, "state": {"paid": 1}}]}`)
	request := &turn.RequestInput{RequestNumber: 1, Instances: []turn.InstanceInput{{State: jsonval.Object{}}}}
	sent := jsonval.EncodeToString(jsonval.ToJSONValue(ResponseFormatFor(idea, nil, request).Schema))
	if !strings.Contains(sent, "refund") {
		t.Fatal(sent)
	}
	for _, m := range Render(idea, nil, request, nil) {
		sent += m.Content
	}
	for _, word := range []string{"_display", "_title", "_order", "currency", "XAU", "minorUnits", "image", "at once",
		"instanceName"} {
		if strings.Contains(sent, word) {
			t.Errorf("the LLM is sent %q: %s", word, sent)
		}
	}
}
