package model

import (
	"strings"
	"testing"
)

// What the design has and this version has not is refused, never ignored: a file that asks for an approval must not run
// without one. The list is whole when it names every caller of notYet.
func TestWhatIsNotBuiltYetIsRefused(t *testing.T) {
	for name, file := range map[string]string{
		"a delegate":                        `{"schema":{"tools":{"t":{"_delegate":"anonymous"}}}}`,
		"what a delegate may write":         `{"schema":{"tools":{"t":{"_writes":["state.a"]}}}}`,
		"a Plan that runs by itself":        `{"context":[{"type":"plan","plan":[],"stage":"complete"}]}`,
		"a Plan under a condition":          `{"context":[{"type":"plan","plan":[],"when":{"required":["a"]}}]}`,
		"two output paths":                  `{"schema":{"tools":{"t":{"_outputPath":"†state.a && †state.b"}}}}`,
		"an output path for the failure":    `{"schema":{"tools":{"t":{"_outputPath":"†state.ok || †state.failed"}}}}`,
		"an expression for a wired value":   `{"schema":{"tools":{"t":{"properties":{"a":{"const":"†state.a || †input.a"}}}}}}`,
		"an expression for a wired value &": `{"schema":{"tools":{"t":{"properties":{"a":{"const":"†state.a && †input.a"}}}}}}`,
	} {
		_, ps := ParseIdea([]byte(file))
		if len(ps.Errors()) != 1 || !strings.HasSuffix(ps.Error(), " are not built yet") {
			t.Errorf("%s: %s gives %q", name, file, ps.Error())
		}
	}
	r := NewRun(*paletteFrom(t, sceneTools), nil, "")
	for i, call := range []string{
		`{"_tool":"do","a":"†state.a || †state.b"}`, `{"_tool":"do","a":[{"b":"†state.a && †state.b"}]}`,
		`{"_tool":"do","_outputPath":"a && b"}`, `{"_tool":"do","output":"†state.a || †state.b"}`, `{"_tool":"see","_scopes":["state.a || state.b"]}`,
	} {
		r.Accept(1, i+1, mustDecode(call))
		if f := r.Records()[i].Fault; f == nil || !strings.HasSuffix(f.Message, " are not built yet") {
			t.Errorf("%s: %v", call, f)
		}
	}
	if len(r.Next()) > 0 {
		t.Error("one of them runs all the same")
	}
}
