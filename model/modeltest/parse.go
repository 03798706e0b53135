package modeltest

import (
	"strings"
	"testing"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// PaletteFrom parses valid Tools. Those with an `_activity` are bound to Go functions, the others are latent.
func PaletteFrom(t *testing.T, toolsJSON string, instanceTokens ...string) *ideafile.Palette {
	t.Helper()
	if instanceTokens == nil {
		instanceTokens = []string{""}
	}
	p := &ideafile.Palette{InstanceTokens: instanceTokens, BindingByTool: ideafile.ToolBindings{}}
	m := MustDecodeJSON(toolsJSON).(jsonval.Object)
	for name, v := range jsonval.Sorted(m) {
		tool := ToolFrom(t, name, jsonval.EncodeToString(v))
		p.Tools = append(p.Tools, tool)
		p.BindingByTool[name] = ideafile.ToolBinding{Kind: ideafile.KindLatent}
		if a, ok := tool.RawActivity.(string); ok {
			p.BindingByTool[name] = ideafile.ToolBinding{Kind: ideafile.KindGo, GoFunctionName: a}
		}
	}
	return p
}

// IdeaFrom parses a valid Idea.
func IdeaFrom(t Fataler, ideaJSON string) *ideafile.Idea {
	i, ps := ideafile.ParseIdea([]byte(ideaJSON))
	if len(ps.Errors()) > 0 {
		t.Fatalf("%s\nin %s", ps, ideaJSON)
	}
	return i
}

// MessagesFrom parses a list of valid Messages.
func MessagesFrom(t *testing.T, messagesJSON string) []ideafile.Message {
	t.Helper()
	messages, err := ideafile.ReadMessages(MustDecodeJSON(messagesJSON).([]any))
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// NewBlobHandleValue returns the handle of a large value, in the form of a JSON value.
func NewBlobHandleValue(valueType string, size int) jsonval.Object {
	return jsonval.BlobHandle{Digest: strings.Repeat("d", 64), Size: size,
		ValueType: valueType}.AsJSONValue().(jsonval.Object)
}

// ToolFrom parses a valid Tool.
func ToolFrom(t *testing.T, name, sourceJSON string) *ideafile.Tool {
	t.Helper()
	var ps diag.Problems
	tool := ideafile.ReadTool(name, MustDecodeJSON(sourceJSON), "$", &ps)
	if len(ps.Errors()) > 0 {
		t.Fatalf("tool %s: %s", name, ps)
	}
	return tool
}
