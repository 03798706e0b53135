package dataflow_test

import (
	"strings"
	"testing"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

func TestACallWhoseReferencesMultiplyAValueFailsBeforeItIsMade(t *testing.T) {
	t.Parallel()
	stored := jsonval.BlobHandle{Digest: strings.Repeat("a", 64), Size: 5 << 20, ValueType: "string"}.AsJSONValue()
	for name, c := range map[string]struct {
		value any
		times int
		want  ideafile.CallStatus
	}{
		"a text of 60 KB ten thousand times": {strings.Repeat("x", 60<<10), 10_000, ideafile.CallFailed},
		"a text of 60 KB a hundred times":    {strings.Repeat("x", 60<<10), 100, ideafile.CallRunning},
		"a stored text five times":           {stored, 5, ideafile.CallFailed},
		"a stored text three times":          {stored, 3, ideafile.CallRunning},
	} {
		t.Run(name, func(t *testing.T) {
			idea := modeltest.IdeaFrom(t, `{"schema":{"tools":{"do":{"properties":{"list":{"type":"array"}}}}}}`)
			palette := ideafile.Palette{Tools: idea.Tools,
				BindingByTool: map[string]ideafile.ToolBinding{"do": {Kind: ideafile.KindGo, GoFunctionName: "do"}}}
			i := dataflow.New(palette,
				[]ideafile.Message{{Type: ideafile.TypeState, PayloadKind: ideafile.TypeState,
					Payload: map[string]any{"v": c.value}}}, "")
			list := make([]any, c.times)
			for n := range list {
				list[n] = "†state.v"
			}
			i.AcceptCall(1, 1, ideafile.ParseWrittenCall(map[string]any{"_tool": "do", "list": list}))
			i.CloseRequest(1)
			i.Advance()
			rec := i.FindCall("1.1")
			if rec.Status != c.want {
				t.Fatalf("it is %s: %v", rec.Status, rec.Fault)
			}
			if c.want == ideafile.CallFailed &&
				!strings.Contains(rec.Fault.Message,
					"it would have more than 20 MB: refer to fewer or smaller values") {
				t.Error(rec.Fault)
			}
		})
	}
}
