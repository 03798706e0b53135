package tools_test

import (
	"context"
	"testing"

	"processidea/model/ideafile"
	"processidea/tools"
	"processidea/tools/kinds"
)

func TestAFunctionSaysHowItIsTakenBack(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry()
	act := func(context.Context, struct{}) (string, error) { return "", nil }
	tools.Register(r, "book", act, tools.Undo("cancel", `{"id": "†result"}`))
	tools.Register(r, "look", act, tools.NothingToUndo())
	tools.Register(r, "send", act)
	tools.Register(r, "add", act, tools.Pure())
	source := `{"schema": {"tools": {"book": {}, "look": {}, "send": {}, "add": {}, "write": {}, "cancel": {"_activity": "send"},
		"own": {"_activity": "book", "_undo": "never"}}}}`
	idea, ps := ideafile.ParseIdea([]byte(source))
	if len(ps.Errors()) > 0 {
		t.Fatal(ps)
	}
	bindings, _ := kinds.NewKnownTools(r, nil).Bind(idea)
	for name, want := range map[string]ideafile.UndoKind{"book": ideafile.UndoByTool, "look": ideafile.UndoNotNeeded,
		"send": ideafile.UndoImpossible,
		"add":  ideafile.UndoNotNeeded, "write": ideafile.UndoNotNeeded, "own": ideafile.UndoImpossible} {
		if got := idea.Tool(name).EffectiveUndo(bindings[name]); got.Kind != want {
			t.Errorf("%s: %+v, not %s", name, got, want)
		}
	}
	for _, params := range []string{`{"id": "†input.id"}`, `[]`, `{`} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", params)
				}
			}()
			tools.Undo("cancel", params)
		}()
	}
}
