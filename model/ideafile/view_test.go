package ideafile_test

import (
	"reflect"
	"strings"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestEachInstanceSeesItsOwnMessagesOverTheSharedOnes(t *testing.T) {
	t.Parallel()
	context := modeltest.DecodeJSON(t, `[
		{"type": "input", "rules": ["all"], "limit": 1},
		{"type": "state", "_instance": "②", "a": 2},
		{"type": "state", "_instance": "①", "a": 1},
		{"type": "input", "_instance": "①", "rules": ["mine"]},
		{"type": "nonsense"}, 5]`)
	o := ideafile.SplitContextByInstance(context)
	if !reflect.DeepEqual(o.InstanceTokens, []string{"②", "①"}) || !o.HasInstance("①") || o.HasInstance("") ||
		o.HasInstance("③") {
		t.Fatalf("%v", o.InstanceTokens)
	}
	view := o.InstanceView("①")
	if got := string(
		jsonval.Encode(view.PayloadByKind)); got != `{"input":{"limit":1,"rules":["mine"]},"state":{"a":1}}` {
		t.Errorf("① sees %s", got)
	}
	if got := string(
		jsonval.Encode(
			o.InstanceView("②").PayloadByKind)); got != `{"input":{"limit":1,"rules":["all"]},"state":{"a":2}}` {
		t.Errorf("② sees %s", got)
	}
	if got := string(
		jsonval.Encode(
			ideafile.OwnInstanceView(o.MessagesByInstance["①"], "①").PayloadByKind)); got != `{"input":{"rules":["mine"]},"state":{"a":1}}` {
		t.Errorf("① owns %s", got)
	}
	if got := string(
		jsonval.Encode(ideafile.OwnInstanceView(o.SharedMessages, "").PayloadByKind)); got != `{"input":{"limit":1,"rules":["all"]}}` {
		t.Errorf("everybody sees %s", got)
	}
}

func TestAContextThatNamesNoInstanceHasTheAnonymousOne(t *testing.T) {
	t.Parallel()
	o := ideafile.SplitContextByInstance(modeltest.DecodeJSON(t, `[{"type": "state", "a": 1}]`))
	if !reflect.DeepEqual(o.InstanceTokens, []string{""}) || !o.HasInstance("") || o.HasInstance("①") {
		t.Errorf("%v", o.InstanceTokens)
	}
	if got := string(jsonval.Encode(o.InstanceView("").PayloadByKind)); got != `{"state":{"a":1}}` {
		t.Errorf("it sees %s", got)
	}
	if ideafile.SplitContextByInstance(nil).InstanceTokens[0] != "" {
		t.Error("an Idea without a context has no instance")
	}
}

// A Plan is not for an instance whose value that its condition looks at is too large to be looked at.
func TestAPlanOnALargeValueIsForNobody(t *testing.T) {
	t.Parallel()
	large := jsonval.BlobHandle{Digest: strings.Repeat("a", 64), Size: jsonval.LargeValueBytes + 1, ValueType: "string"}
	for when, want := range map[string]bool{`{"pattern": "refund"}`: false, `{"maxLength": 9}`: false, `{}`: true} {
		idea := modeltest.IdeaFrom(t, `{"context": [{"type": "state", "state": {}}, {"type": "plan", "stage": "optimal", "plan": [],
			"when": {"properties": {"state": {"properties": {"letter": `+when+`}, "required": ["letter"]}}}}]}`)
		view := ideafile.InstanceViewOf(idea.Context, "")
		view.PayloadByKind = jsonval.Object{"state": jsonval.Object{"letter": large.AsJSONValue()}}
		if got := idea.Context[1].PlanAppliesTo(view); got != want {
			t.Errorf("%s: %v", when, got)
		}
	}
}
