package builtin

import (
	"encoding/json"
	"strings"
	"testing"

	"processidea/tools"
)

func TestTheBuiltInToolsAreKnownByTheirNames(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry()
	Register(r, getter(nil))
	want := "currentTime decide fetch formatText note selectJSON"
	if got := strings.Join(r.Names(), " "); got != want {
		t.Errorf("%s", got)
	}
	for _, name := range r.Names() {
		tool, _ := r.Lookup(name)
		if tool.Pure == (name == "currentTime" || name == "fetch") {
			t.Errorf("%s: pure is %v", name, tool.Pure)
		}
		if tool.Description == "" || !json.Valid(tool.ParametersSchema) || !json.Valid(tool.ResultSchema) {
			t.Errorf("%+v", tool)
		}
	}
	if _, ok := r.Lookup("nothing"); ok {
		t.Error("an unknown name was found")
	}
}
