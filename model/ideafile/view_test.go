package ideafile_test

import (
	"reflect"
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestEachInstanceSeesItsOwnMessagesOverTheSharedOnes(t *testing.T) {
	context := modeltest.DecodeJSON(t, `[
		{"type": "input", "rules": ["all"], "limit": 1},
		{"type": "state", "_instance": "②", "a": 2},
		{"type": "state", "_instance": "①", "a": 1},
		{"type": "input", "_instance": "①", "rules": ["mine"]},
		{"type": "nonsense"}, 5]`)
	o := ideafile.SplitContext(context)
	if !reflect.DeepEqual(o.Tokens, []string{"②", "①"}) || !o.HasInstance("①") || o.HasInstance("") || o.HasInstance("③") {
		t.Fatalf("%v", o.Tokens)
	}
	view := o.View("①")
	if got := string(jsonval.Encode(view.Payload)); got != `{"input":{"limit":1,"rules":["mine"]},"state":{"a":1}}` {
		t.Errorf("① sees %s", got)
	}
	if got := string(jsonval.Encode(o.View("②").Payload)); got != `{"input":{"limit":1,"rules":["all"]},"state":{"a":2}}` {
		t.Errorf("② sees %s", got)
	}
	if got := string(jsonval.Encode(o.OwnView("①").Payload)); got != `{"input":{"rules":["mine"]},"state":{"a":1}}` {
		t.Errorf("① owns %s", got)
	}
	if got := string(jsonval.Encode(o.SharedView().Payload)); got != `{"input":{"limit":1,"rules":["all"]}}` {
		t.Errorf("everybody sees %s", got)
	}
}

func TestAContextThatNamesNoInstanceHasTheAnonymousOne(t *testing.T) {
	o := ideafile.SplitContext(modeltest.DecodeJSON(t, `[{"type": "state", "a": 1}]`))
	if !reflect.DeepEqual(o.Tokens, []string{""}) || !o.HasInstance("") || o.HasInstance("①") {
		t.Errorf("%v", o.Tokens)
	}
	if got := string(jsonval.Encode(o.View("").Payload)); got != `{"state":{"a":1}}` {
		t.Errorf("it sees %s", got)
	}
	if ideafile.SplitContext(nil).Tokens[0] != "" {
		t.Error("an Idea without a context has no instance")
	}
}
