package loop_test

import (
	"testing"

	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/modeltest"
)

func TestAnOutputIsMadeOfTheInstancesThatHaveTheValue(t *testing.T) {
	t.Parallel()
	states := map[string]any{"a": modeltest.DecodeJSON(t, `{"x":1}`), "b": modeltest.DecodeJSON(t, `{"x":null}`),
		"c": modeltest.DecodeJSON(t, `{}`)}
	for name, c := range map[string]struct {
		written string
		old     bool // a process from before loop.PartialOutputChangeID
		want    string
		asked   bool
	}{
		"some have it": {written: `{"all":"†state.x"}`, want: `{"all":{"a":1,"b":null}}`,
			asked: true},
		"some have it, as it was before": {written: `{"all":"†state.x"}`, old: true,
			want: `bad_output: the output: reference †state.x: nothing there`, asked: true},
		"none has it": {written: `{"all":"†state.y"}`,
			want: `bad_output: the output: reference †state.y: nothing there in any instance`},
		"all have one or the other": {written: `{"all":"†state.x || †input.z"}`,
			want: `{"all":{"a":1,"b":null,"c":5}}`},
		"what all share": {written: `{"z":"†input.z"}`, want: `{"z":5}`},
		"what all share is not there": {written: `{"all":"†state.x","q":"†input.q"}`,
			want: `bad_output: the output: reference †input.q: nothing there`, asked: true},
	} {
		asked := false
		idea := modeltest.IdeaFrom(t,
			`{"schema": {"tools": {}, "output": {"type": "object"}}, "context": [{"type": "input", "z": 5}]}`)
		wirings := []loop.OutputWiring{{WrittenOutput: modeltest.DecodeJSON(t, c.written),
			InstanceTokens: []string{"a", "b", "c"}}}
		out, f := loop.ResolveOutputWirings(idea, wirings, func(token string) any { return states[token] },
			func(change string) bool {
				asked = true
				return change == loop.PartialOutputChangeID && !c.old
			})
		got := string(jsonval.Encode(out))
		if f != nil {
			got = f.Error()
		}
		if got != c.want || asked != c.asked {
			t.Errorf("%s: %s, asked %v", name, got, asked)
		}
	}
}
