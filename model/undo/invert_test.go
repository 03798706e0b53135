package undo_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/undo"
)

// done is a Call that is done, and read what stands at some places of State; it wrote to its own name.
func done(id, writes string, reads ...string) undo.Call {
	key, _ := ideafile.ParseCallKey(id)
	c := undo.Call{ID: id, InstanceToken: ideafile.InstanceTokenOfCallID(id), Key: key, Tool: "work",
		Params: map[string]any{"room": "7"}, Result: id,
		Status: ideafile.CallDone, RanSuccessfully: true, FirstDoneIdeaNumber: key.Request, UndoMethod: remove,
		WrittenPaths: []jsonval.Path{{writes}}}
	for _, r := range reads {
		c.ReadPaths = append(c.ReadPaths, jsonval.Path{r})
	}
	return c
}

func with(c undo.Call, changes ...func(*undo.Call)) undo.Call {
	for _, change := range changes {
		change(&c)
	}
	return c
}

// delegated makes a Call one that ran a process, in which nothing is to be taken back; within has it do something.
func delegated(c *undo.Call) {
	c.DelegateProcessID, c.UndoMethod, c.DelegateUndo = "p/~call/1.1",
		ideafile.UndoMethod{Kind: ideafile.UndoByProcess}, &undo.DelegateUndo{}
}

func within(c *undo.Call) { c.DelegateUndo.Steps = []undo.Step{{}} }

// summary says a Plan in a line: undo (with what is before) | cannot | kept | withdrawn.
func summary(p undo.Plan) string {
	var parts [4][]string
	for _, s := range p.Steps {
		text := s.CallID
		if len(s.AfterCallIDs) > 0 {
			text += "<" + strings.Join(s.AfterCallIDs, ",")
		}
		parts[0] = append(parts[0], text)
	}
	for n, list := range [][]undo.NotUndoneCall{p.IrreversibleCalls, p.KeptCalls} {
		for _, l := range list {
			parts[n+1] = append(parts[n+1], l.CallID+": "+l.Reason)
		}
	}
	parts[3] = p.CallIDsWithoutOutsideEffect
	out := make([]string, len(parts))
	for n, p := range parts {
		out[n] = strings.Join(p, " ")
	}
	return strings.TrimRight(strings.Join(out, " | "), " |")
}

func TestWhatIsTakenBackFollowsFromWhatWasRead(t *testing.T) {
	t.Parallel()
	chain := []undo.Call{done("1.1", "a"), done("1.2", "b", "a"), done("2.1", "c", "b"), done("2.2", "d")}
	never := func(c *undo.Call) { c.UndoMethod.Kind, c.DelegateUndo = ideafile.UndoImpossible, nil }
	none := func(c *undo.Call) { c.UndoMethod.Kind = ideafile.UndoNotNeeded }
	for _, row := range []struct {
		name   string
		calls  []undo.Call
		choice undo.Selection
		want   string
	}{
		{"all, readers first, and what is independent side by side", chain, undo.Selection{},
			"2.2 2.1 1.2<2.1 1.1<1.2"},
		{"since an Idea", chain, undo.Selection{AfterIdeaNumber: 1}, "2.2 2.1"},
		{"one Call with all that read from it", chain, undo.Selection{CallID: "1.2"}, "2.1 1.2<2.1"},
		{"what came after is taken back before",
			[]undo.Call{done("1.1", "a"), with(done("1.2", "b"), func(c *undo.Call) {
				c.AfterReferences = []refexpr.Reference{{Kind: "call", Path: jsonval.Path{"1", "1"}}}
			})}, undo.Selection{}, "1.2 1.1<1.2"},
		{"and so is what came after a place in State",
			[]undo.Call{done("1.1", "a"), with(done("1.2", "b"), func(c *undo.Call) {
				c.AfterReferences = []refexpr.Reference{{Kind: "state", Path: jsonval.Path{"a"}}}
			})}, undo.Selection{}, "1.2 1.1<1.2"},
		{"what cannot be taken back keeps all that it came from",
			[]undo.Call{chain[0], chain[1], with(chain[2], never), chain[3]}, undo.Selection{},
			"2.2 | 2.1: nothing takes work back | 1.2: 2.1 (work) reads from it and is not taken back 1.1: 2.1 " +
				"(work) reads from it and is not taken back"},
		{"what only looked keeps nothing", []undo.Call{chain[0], with(chain[1], none)}, undo.Selection{},
			"1.1 |  |  | 1.2"},
		{"what came from what only looked comes first", []undo.Call{chain[0], with(chain[1], none), chain[2]},
			undo.Selection{}, "2.1 1.1<2.1 |  |  | 1.2"},
		{"what had ended before another read nothing from it", []undo.Call{
			with(done("1.1", "a", "d"), func(c *undo.Call) { c.StartLogicalTime, c.EndLogicalTime = 9, 10 }),
			with(done("1.2", "b", "a"), func(c *undo.Call) { c.UndoMethod.Kind, c.EndLogicalTime = ideafile.UndoNotNeeded, 6 }),
			with(done("1.3", "d", "b"), func(c *undo.Call) { c.StartLogicalTime, c.EndLogicalTime = 7, 8 })},
			undo.Selection{}, "1.1 1.3<1.1 |  |  | 1.2"},
		{"one instance", []undo.Call{done("1.1@①", "a"), done("1.1@②", "a")},
			undo.Selection{Instance: "2", HasInstance: true}, "1.1@②"},
		{"instances do not read from each other", []undo.Call{done("1.1@①", "a"), done("1.2@②", "b", "a")},
			undo.Selection{CallID: "1.1@1"}, "1.1@①"},
		{"what is not done left nothing",
			[]undo.Call{with(chain[0], func(c *undo.Call) {
				c.Status, c.RanSuccessfully = ideafile.CallFailed,
					false
			})},
			undo.Selection{}, ""},
		{"a person gave the result: nothing ran", []undo.Call{with(chain[0], func(c *undo.Call) { c.RanSuccessfully = false })},
			undo.Selection{}, " |  |  | 1.1"},
		{"nobody knows whether it took effect", []undo.Call{with(chain[0], func(c *undo.Call) {
			c.Status, c.RanSuccessfully, c.Fault = ideafile.CallFailed, false,
				diag.Faultf(ideafile.CodeOutcomeUnknown, "lost")
		})}, undo.Selection{}, " | 1.1: it is not known whether it took effect: a person must look and say"},
		{"nobody knows whether it took effect, and a person says so", []undo.Call{chain[0], with(chain[1], func(c *undo.Call) {
			c.Status, c.RanSuccessfully, c.Fault = ideafile.CallFailed, false,
				diag.Faultf(ideafile.CodeOutcomeUnknown, "lost")
			c.Result, c.UndoMethod.Params = nil, map[string]any{"id": "†params.room"}
		}), with(chain[3], func(c *undo.Call) {
			c.Status, c.RanSuccessfully, c.Result = ideafile.CallRunning, false, nil
			c.UndoMethod.Params = map[string]any{"id": "†result.id"}
		})}, undo.Selection{RequiresReview: true}, "1.2 1.1<1.2 | " +
			"2.2: remove cannot be given what it needs: reference †result.id: nothing there"},
		{"it ran, and its result is of no use", []undo.Call{chain[0], with(chain[1], func(c *undo.Call) {
			c.Status, c.RanSuccessfully, c.Fault = ideafile.CallFailed, false,
				diag.Faultf(ideafile.CodeBadOutput, "no id")
		})}, undo.Selection{}, " | 1.2: it is not known whether it took effect: a person must look and say | " +
			"1.1: 1.2 (work) reads from it and is not taken back"},
		{"it was taken back before, and keeps nothing",
			[]undo.Call{chain[0], with(chain[1], func(c *undo.Call) { c.UndoneByProcessID = "p-undo-1" })},
			undo.Selection{},
			"1.1 |  | 1.2: it was taken back by p-undo-1"},
		{"it was done before the fork", []undo.Call{with(chain[0], func(c *undo.Call) { c.RanByProcessID = "p" }),
			chain[1]}, undo.Selection{},
			"1.2 |  | 1.1: it was done by p, from which this process was forked: take it back there"},
		{"it was done before the fork, and taken back there",
			[]undo.Call{with(chain[0], func(c *undo.Call) { c.RanByProcessID, c.UndoneByProcessID = "p", "p-undo-1" })},
			undo.Selection{},
			" |  | 1.1: it was taken back by p-undo-1"},
		{"a fork reads from it", []undo.Call{chain[0], with(chain[1], func(c *undo.Call) { c.ReadingForkID = "q" }),
			chain[2]},
			undo.Selection{},
			"2.1 |  | 1.2: q was forked from this process and reads from it: take back first what that did " +
				"1.1: 1.2 (work) reads from it and is not taken back"},
		{"its caller reads from it", []undo.Call{chain[0], with(chain[1], func(c *undo.Call) {
			c.ReadingCallerCallName, c.CallerCallName = "3.2 (book) of q", "3.1 (trip) of q"
		}), chain[2]}, undo.Selection{},
			"2.1 |  | 1.2: 3.2 (book) of q read what came from it: take back 3.1 (trip) of q instead " +
				"1.1: 1.2 (work) reads from it and is not taken back"},
		{"the Call that ran its process says how", []undo.Call{with(chain[0],
			func(c *undo.Call) { c.UndoneWithCallID = "3.1 of q" })},
			undo.Selection{}, " |  | 1.1: it is taken back with 3.1 of q"},
		{"a delegate", []undo.Call{
			with(chain[0], func(c *undo.Call) { delegated(c); c.DelegateUndo = nil })}, undo.Selection{},
			" | 1.1: it has a process of its own: take back p/~call/1.1"},
		{"a delegate whose process is on record", []undo.Call{with(chain[0], delegated, within), chain[1]},
			undo.Selection{}, "1.2 1.1<1.2"},
		{"a delegate that failed, of whose process nothing is known", []undo.Call{with(chain[0], delegated, func(c *undo.Call) {
			c.Status, c.RanSuccessfully, c.DelegateUndo = ideafile.CallFailed, false, nil
			c.Fault = diag.Faultf(ideafile.CodeDelegateFailed, "it has failed")
		}), chain[1]}, undo.Selection{}, "1.2 |  | " +
			"1.1: it failed in a process of its own, p/~call/1.1: take back there what that did"},
		{"a delegate that failed, and says that nothing need be done", []undo.Call{with(chain[0], none, func(c *undo.Call) {
			c.Status, c.RanSuccessfully, c.DelegateProcessID = ideafile.CallFailed, false, "p/~call/1.1"
			c.Fault = diag.Faultf(ideafile.CodeDelegateFailed, "it has failed")
		})}, undo.Selection{}, ""},
		{"what took another Call back", []undo.Call{with(chain[0], func(c *undo.Call) {
			c.Undoes = &ideafile.UndoneCall{ProcessID: "q", CallID: "3.1"}
		})}, undo.Selection{}, " |  | 1.1: it took 3.1 of q back: what was taken back is not done again by an undo"},
		{"a delegate that failed, but had done something", []undo.Call{with(chain[0], delegated, within,
			func(c *undo.Call) { c.Status, c.RanSuccessfully = ideafile.CallFailed, false })},
			undo.Selection{CallID: "1.1"}, "1.1"},
		{"a delegate that did nothing, or of which all is taken back", []undo.Call{with(chain[0], delegated)},
			undo.Selection{}, " |  |  | 1.1"},
		{"a delegate of which something cannot be taken back",
			[]undo.Call{chain[0], with(chain[1], delegated, within, func(c *undo.Call) {
				c.DelegateUndo.IrreversibleCalls = []undo.NotUndoneCall{{Reason: "nothing takes write back",
					OriginalCall: &chain[3]}}
			})}, undo.Selection{},
			" | 1.2: it ran p/~call/1.1, where 2.2 (work) cannot be taken back: nothing takes write back" +
				" | 1.1: 1.2 (work) reads from it and is not taken back"},
		{"a delegate that says never", []undo.Call{with(chain[0], delegated, never)}, undo.Selection{},
			" | 1.1: nothing takes work back"},
		{"a delegate that says how", []undo.Call{with(chain[0],
			func(c *undo.Call) { c.DelegateProcessID = "p/~call/1.1" })},
			undo.Selection{}, "1.1"},
		{"its parameters are not known, and need not be",
			[]undo.Call{with(chain[0], func(c *undo.Call) {
				c.Params, c.ToolOrParamsUnknownReason = nil,
					"a person changed State"
			})},
			undo.Selection{}, "1.1"},
		{"its parameters are not known", []undo.Call{with(chain[0], func(c *undo.Call) {
			c.Params, c.ToolOrParamsUnknownReason, c.UndoMethod.Params = nil, "a person changed State",
				map[string]any{"id": "†params.room"}
		})}, undo.Selection{}, " | 1.1: its parameters are not known: a person changed State"},
		{"it is not known what ran",
			[]undo.Call{with(chain[0], func(c *undo.Call) {
				c.Tool, c.ToolOrParamsUnknownReason = "",
					"it is an old chain"
			})},
			undo.Selection{},
			" | 1.1: it is not known what ran: it is an old chain"},
		{"the result lacks what is needed",
			[]undo.Call{with(chain[0], func(c *undo.Call) { c.UndoMethod.Params = map[string]any{"id": "†result.id"} })},
			undo.Selection{},
			" | 1.1: remove cannot be given what it needs: reference †result.id: nothing there"},
		{"what is needed does not fit", []undo.Call{with(chain[0], func(c *undo.Call) { c.Result = true })},
			undo.Selection{},
			` | 1.1: remove does not take the parameter "id": expected string, but got boolean`},
		{"no such tool", []undo.Call{with(chain[0], func(c *undo.Call) { c.UndoMethod.Tool = "gone" })},
			undo.Selection{},
			" | 1.1: there is no tool gone that would take it back"},
	} {
		find := func(_ undo.Call, name string) *ideafile.Tool {
			if name == removeTool.Name {
				return removeTool
			}
			return nil
		}
		p, err := undo.PlanUndo(row.calls, row.choice, find, noState)
		if got := summary(p); err != nil || got != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s (%v)", row.name, got, row.want, err)
		}
	}
}

// What only looked keeps nothing, but what came from what it found does; and so does nothing that is taken back, or was
// written since.
func TestAForkReadsFromBeforeWhatItsEffectsCameFrom(t *testing.T) {
	t.Parallel()
	none := func(c *undo.Call) { c.UndoMethod.Kind = ideafile.UndoNotNeeded }
	for want, calls := range map[string][]undo.Call{
		"map[①:[a]]": {with(done("3.1@①", "x", "a"), none), done("3.2@①", "y", "x")},
		"map[:[a b]]": {done("3.1", "x", "a"), with(done("3.2", "y"),
			func(c *undo.Call) { c.ScopePaths = []jsonval.Path{{"b"}} })},
		"map[]": {with(done("3.1", "x", "a"), none), with(done("3.2", "y", "b"),
			func(c *undo.Call) { c.UndoneByProcessID = "u" })},
		"map[:[a.id]]": {with(done("1.1", "x", "b"), func(c *undo.Call) { c.RanByProcessID = "p" }),
			with(done("3.1", "x"), func(c *undo.Call) { c.ReadPaths = []jsonval.Path{{"a", "id"}} })},
	} {
		if got := fmt.Sprint(undo.PathsReadFromStartState(calls)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestAChoiceOfWhatIsNotDoneIsRefused(t *testing.T) {
	t.Parallel()
	calls := []undo.Call{done("1.1@①", "a"),
		with(done("1.2@①", "b"), func(c *undo.Call) { c.Status = ideafile.CallSkipped }),
		with(done("1.1~undo@①", "c"), func(c *undo.Call) { c.Key.Request++ })} // as a repetition counts
	for want, choice := range map[string]undo.Selection{
		"Call 1.1~undo@① (work) takes 1.1@① back: what was taken back is not done again by an undo": {CallID: "1.1~undo@1"},
		"Call 1.2@① (work) is not done: it is skipped":                                              {CallID: "1.2@1"},
		"there is no Call 1.3@1; there are 1.1@①, 1.2@①, 1.1~undo@①":                                {CallID: "1.3@1"},
		`no instance "③" has a Call`:                                                                {Instance: "③", HasInstance: true},
	} {
		p, err := undo.PlanUndo(slices.Clone(calls), choice, findRemove, noState)
		if err == nil || err.Error() != want {
			t.Errorf("got %v (%+v), want %s", err, p, want)
		}
	}
}

func TestTheUndoToolIsGivenResultParametersAndState(t *testing.T) {
	t.Parallel()
	c := done("1.1", "a")
	c.UndoMethod.Params = map[string]any{"id": "†result", "room": "†params.room", "who": "†`of ${state.name}`",
		"why": "††taken back"}
	var ps diag.Problems
	tool := ideafile.ReadTool("remove", map[string]any{}, "$", &ps)
	got, err := undo.ResolveUndoParams(c, tool, map[string]any{"name": "Ada"})
	want := map[string]any{"id": "1.1", "room": "7", "who": "of Ada", "why": "†taken back"}
	if err != nil || !jsonval.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAnEffectIsFoundThatCameFromACallThroughOthers(t *testing.T) {
	t.Parallel()
	none := func(c *undo.Call) { c.UndoMethod.Kind = ideafile.UndoNotNeeded }
	calls := []undo.Call{done("1.1", "a"), with(done("1.2", "b", "a"), none), done("1.3", "c", "b"), done("1.4", "d")}
	for name, row := range map[string]struct {
		calls []undo.Call
		id    string
		want  string
	}{
		"through one without":   {calls, "1.1", "1.3"},
		"its own is none":       {calls, "1.3", ""},
		"nothing reads from it": {calls, "1.4", ""},
		"it is not there":       {calls, "9.9", ""},
		"it was taken back": {[]undo.Call{calls[0], calls[1],
			with(calls[2], func(c *undo.Call) { c.UndoneByProcessID = "p-undo-1" })}, "1.1", ""},
	} {
		got := ""
		if reader := undo.FindEffectReader(row.calls, row.id); reader != nil {
			got = reader.ID
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
