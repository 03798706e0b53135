package undo_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/statelog"
	"processidea/model/turn"
	"processidea/model/undo"
)

// undoable is the palette of drawn Plans, of which each Call of work can be taken back.
func undoable() ideafile.Palette {
	p := modeltest.RandomPlanPalette
	p.KeepsUndoableCallParams, p.Tools = true, append(slices.Clone(p.Tools), removeTool)
	for n, t := range p.Tools {
		if t.Name == "work" {
			work := *t
			work.Undo = &ideafile.UndoMethod{Kind: ideafile.UndoByTool, Tool: "remove"}
			p.Tools[n] = &work
		}
	}
	p.BindingByTool = map[string]ideafile.ToolBinding{"remove": {Kind: ideafile.KindHTTP}}
	for name, b := range modeltest.RandomPlanPalette.BindingByTool {
		p.BindingByTool[name] = b
	}
	return p
}

// An instance that takes back all that it did ends with the State that it began with, unless something stays, or people
// have corrected it; and it carries what it takes back through any step.
func TestAnInstanceThatTakesAllBackHasTheStateThatItBeganWith(t *testing.T) {
	t.Parallel()
	undone := 0
	rapid.Check(t, func(t *rapid.T) {
		p := modeltest.NewPlanExecution(modeltest.GeneratePlan(t, modeltest.PlanOptions{MaxCalls: 6, MaxRequests: 2}))
		_, context, token := p.Instance.StartParameters()
		p.Instance = dataflow.New(undoable(), context, token)
		began := string(jsonval.Encode(p.Instance.State()))
		p.RunAll(t, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "event") })
		if len(p.Instance.PendingApprovals()) > 0 {
			return // people are asked first
		}
		w := newWorld()
		for _, rec := range p.Instance.CallRecords() {
			if given, began := p.InputByCallID[rec.ID]; began && rec.ExecutedCall != nil &&
				rec.Status == ideafile.CallDone &&
				rec.FaultWrittenToBranch == nil {
				w.effects["p "+rec.ID] = given
			}
		}
		u := undo.PlanInstanceUndo(p.Instance, "p", approval.UndoOrder{}, func(id string) string { return id })
		p.Instance.BeginUndo(u)
		taken := map[string]bool{}
		for running := p.Instance.Advance(); len(running) > 0; {
			at := rapid.IntRange(0, len(running)-1).Draw(t, "step")
			r := running[at]
			if r.Tool.Name != "remove" || taken[r.Record.ID] || r.Record.Undoes == nil {
				t.Fatalf("%s of %s runs", r.Record.ID, r.Tool.Name)
			}
			taken[r.Record.ID] = true
			running = slices.Delete(running, at, at+1)
			if err := w.takeBack("p", strings.TrimSuffix(r.Record.ID, "~undo")); err != nil {
				t.Fatal(err)
			}
			p.Instance.SucceedCall(r.Record.ID, nil)
			palette, context, token := p.Instance.StartParameters()
			var left []string
			for _, r := range running {
				left = append(left, r.Record.ID)
			}
			p.Instance = dataflow.Restore(palette, context, token, p.Instance.CarryIntoNextRun())
			running = running[:0]
			for _, id := range left {
				running = append(running, p.Instance.FindStartedCall(id))
			}
			running = append(running, p.Instance.Advance()...)
		}
		said := p.Instance.TakeUndoResult()
		if said == nil || said.HasFailed != u.EffectRemains || len(taken) != len(u.UndoCalls) {
			t.Fatalf("%+v after %v of %+v", said, taken, u)
		}
		if got := string(jsonval.Encode(p.Instance.State())); got != began && !strings.Contains(said.Summary, "not taken back") {
			t.Fatalf("its State was %s, and is %s: %s", began, got, said.Summary)
		}
		if len(w.effects) > 0 && (!said.HasFailed || !strings.Contains(said.Summary, "not taken back")) {
			t.Fatalf("the world has %q: %s", w.effects, said.Summary)
		}
		undone += len(taken)
	})
	if undone == 0 {
		t.Error("nothing was tried")
	}
}

// runAll has every ready Call succeed.
func runAll(i *dataflow.Instance) {
	for _, r := range i.Advance() {
		i.SucceedCall(r.Record.ID, "1")
	}
	i.Advance()
}

// A Call that waits for a person with other parameters keeps them if it has read nothing that is taken back.
func TestWhatAPersonAmendedStaysAmended(t *testing.T) {
	t.Parallel()
	i := dataflow.New(*modeltest.PaletteFrom(t, `{"work": {"_activity": "do", "_undo": {"tool": "remove"}}, "remove": {"_activity": "do"},
		"pay": {"_activity": "do", "properties": {"n": {}}, "_approval": true}}`), nil, "")
	i.SetTime(modeltest.StartTime)
	for n, call := range []string{
		`{"_tool": "work", "_outputPath": "a"}`, `{"_tool": "pay", "n": "1"}`, `{"_tool": "pay", "n": "†state.a"}`,
	} {
		i.AcceptCall(1, n+1, ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(call)))
	}
	i.CloseRequest(1)
	runAll(i)
	for call, n := range map[string]string{"1.2": "5", "1.3": "6"} {
		err := i.ApplyDecision(approval.Decision{Kind: policy.Amend, CallID: call,
			AmendedParams: jsonval.Object{"n": n}})
		if err != nil {
			t.Fatal(err)
		}
	}
	i.BeginUndo(undo.PlanInstanceUndo(i, "p", approval.UndoOrder{RequestedBy: "ann"}, func(id string) string { return id }))
	runAll(i)
	if said := i.TakeUndoResult(); said == nil || said.HasFailed {
		t.Fatalf("%+v", said)
	}
	i.Advance()
	var waits []string
	for _, p := range i.PendingApprovals() {
		waits = append(waits, p.CallID+" "+jsonval.EncodeToString(p.Params))
	}
	if got := strings.Join(waits, ", "); got != `1.2 {"n":"5"}` {
		t.Errorf("%s waits", got)
	}
}

// A Call that takes another back waits for nobody: nothing else goes on meanwhile, and the LLM is not asked.
func TestWhatTakesBackIsBlockedByWhatIsNotThere(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, state, path, want string }{
		{"it would come from a Call that waits", `{}`, "who",
			"1.1~undo (remove), blocked: †state.who would come from 1.2"},
		{"a Call that waits may add to it", `{"who": {"name": "ann"}}`, "who.more", ""},
		{"it does not fit", `{"who": 7}`, "b", "1.1~undo (remove), failed: "},
	} {
		palette := modeltest.PaletteFrom(t, `{"work": {"_activity": "do", "_undo": {"tool": "remove"}},
			"remove": {"_activity": "do", "properties": {"who": {"type": "object", "const": "†state.who"}}},
			"ask": {"_activity": "do", "_approval": true}}`)
		palette.AdaptValuesWithLLM = true
		context, err := ideafile.ReadMessages(modeltest.MustDecodeJSON(
			`[{"type": "state", "state": ` + row.state + `}]`).([]any))
		if err != nil {
			t.Fatal(err)
		}
		i := dataflow.New(*palette, context, "")
		i.SetTime(modeltest.StartTime)
		for n, call := range []string{`{"_tool": "work", "_outputPath": "a"}`,
			`{"_tool": "ask", "_outputPath": "` + row.path + `"}`} {
			i.AcceptCall(1, n+1, ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(call)))
		}
		i.CloseRequest(1)
		runAll(i)
		i.BeginUndo(undo.PlanInstanceUndo(i, "p", approval.UndoOrder{RequestedBy: "ann"}, func(id string) string { return id }))
		runAll(i)
		said := i.TakeUndoResult()
		if said == nil || said.HasFailed != (row.want != "") || !strings.Contains(said.Summary, row.want) {
			t.Errorf("%s: %+v", row.name, said)
		}
	}
}

// Of what an instance did before it was reopened it knows how it ended, and not how it was written.
func TestWhatWasDoneBeforeItsInstanceWasReopenedIsTakenBackOnceTheProcessHasEnded(t *testing.T) {
	t.Parallel()
	p := undoable()
	write := func(index int) statelog.Write {
		return statelog.Write{Path: jsonval.Path{"v"}, Value: "x", Author: "1.1", Request: 1, Index: index}
	}
	report := func(index int, ran *turn.ExecutedCall) turn.CallReport {
		return turn.CallReport{Request: 1, Index: index, CallState: turn.CallState{Status: ideafile.CallDone,
			ExecutedCall: ran}}
	}
	ran := &turn.ExecutedCall{Tool: "work", Params: jsonval.Object{}}
	i := dataflow.Restore(p, nil, "", dataflow.RebuildFromReports("", 1, []statelog.Write{write(1)},
		[]turn.CallReport{report(1, ran), report(2, nil), report(3, ran)}))
	i.AcceptCall(2, 1, ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(`{"_tool": "work", "_outputPath": "b"}`)))
	i.CloseRequest(2)
	i.Advance()
	i.SucceedCall("2.1", "x")
	u := undo.PlanInstanceUndo(i, "p", approval.UndoOrder{}, func(id string) string { return id })
	var calls []string
	for _, c := range u.UndoCalls {
		calls = append(calls, c.UndoneCallKey.ID("")+" "+jsonval.EncodeToString(c.Call.RawObject()["_after"]))
	}
	want := "1.2: it is not known what ran: its instance was reopened since; take it back once the process has ended"
	got := strings.Join(calls, ", ")
	if got != `2.1 null, 1.3 null, 1.1 ["†call.1.3~undo"]` || !slices.Equal(u.NotUndoneReasons, []string{want}) {
		t.Errorf("%s; %q", got, u.NotUndoneReasons)
	}
}

// What undoes a Call may read State that the Call itself did not read: who wrote that is undone later.
func TestWhatTakesBackFindsWhatItReads(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]string{
		"wired":     `{"tool": "remove"}`,
		"as params": `{"tool": "other", "params": {"x": "†state.who.name"}}`,
	} {
		i := dataflow.New(*modeltest.PaletteFrom(t, `{"find": {"_activity": "do", "_undo": {"tool": "other"}},
			"work": {"_activity": "do", "_undo": `+how+`}, "other": {"_activity": "do", "properties": {"x": {}}},
			"remove": {"_activity": "do", "properties": {"who": {"const": "†state.who"}}}}`), nil, "")
		for n, call := range []string{`{"_tool": "find", "_outputPath": "who"}`,
			`{"_tool": "work", "_outputPath": "a"}`} {
			i.AcceptCall(n+1, 1, ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(call)))
			i.CloseRequest(n + 1)
			i.Advance()
			i.SucceedCall(ideafile.FormatCallID(n+1, 1, ""), jsonval.Object{"name": "ann"})
		}
		u := undo.PlanInstanceUndo(i, "p", approval.UndoOrder{}, func(id string) string { return id })
		var calls []string
		for _, c := range u.UndoCalls {
			calls = append(calls, c.UndoneCallKey.ID("")+" "+jsonval.EncodeToString(c.Call.RawObject()["_after"]))
		}
		if got := strings.Join(calls, ", "); got != `2.1 null, 1.1 ["†call.2.1~undo"]` {
			t.Errorf("%s: %s", name, got)
		}
	}
}
