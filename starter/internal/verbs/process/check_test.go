package process

import (
	"testing"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

func TestWhatCannotBeTakenBackIsNamedWhoeverDeclaresAnUndo(t *testing.T) {
	t.Parallel()
	pay := ideafile.ToolBinding{Kind: ideafile.KindGo}
	payWithUndo := ideafile.ToolBinding{Kind: ideafile.KindGo,
		Undo: &ideafile.UndoMethod{Kind: ideafile.UndoByTool, Tool: "mail"}}
	for name, c := range map[string]struct {
		pay  ideafile.ToolBinding
		undo any // in the file
		want string
	}{
		"nobody declares one":     {pay, nil, ""},
		"the file does":           {pay, jsonval.Object{"tool": "mail"}, "what these did cannot be taken back: mail\n"},
		"the Go function does":    {payWithUndo, nil, "what these did cannot be taken back: mail\n"},
		"the file says it of pay": {payWithUndo, "never", "what these did cannot be taken back: mail, pay\n"},
	} {
		tool := jsonval.Object{"type": "object"}
		if c.undo != nil {
			tool["_undo"] = c.undo
		}
		idea, problems := ideafile.ReadIdea(jsonval.Object{"schema": jsonval.Object{"tools": jsonval.Object{
			"mail": jsonval.Object{"type": "object"}, "pay": tool,
			// the server may say that it only reads
			"look": jsonval.Object{"_activity": jsonval.Object{"mcp": jsonval.Object{"server": "shop"}}}}},
			"config": jsonval.Object{"mcp": jsonval.Object{"shop": jsonval.Object{"url": "https://shop.example/mcp"}}}})
		if errs := problems.Errors(); len(errs) > 0 {
			t.Fatal(name, errs)
		}
		got := irreversibleToolsText(idea, ideafile.ToolBindings{"mail": {Kind: ideafile.KindGo}, "pay": c.pay})
		if got != c.want {
			t.Errorf("%s: %q, and not %q", name, got, c.want)
		}
	}
}
