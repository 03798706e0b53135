package undo_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/internal/longrun"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/modeltest"
	"processidea/model/undo"
)

// world is what Calls did outside: each effect, with all that the Call was given, in which the effects that it came
// from have their names.
type world struct {
	effects map[string]string // by place and Call
	taken   map[string]bool   // keys under which something was taken back
	// forgetful: it does not know a key again.
	forgetful bool
}

func newWorld() *world { return &world{effects: map[string]string{}, taken: map[string]bool{}} }

// effectName is how the result of a drawn Call begins: its id.
var effectName = regexp.MustCompile(`"(\d+\.\d+) `)

// of lists the effects of a process, and of those that its Calls ran.
func (w *world) of(process string) (keys []string) {
	for key := range w.effects {
		if strings.HasPrefix(key, process+" ") || strings.HasPrefix(key, process+"/") {
			keys = append(keys, key)
		}
	}
	return keys
}

// takeBack does what an undo Tool does, once for each key. It refuses to pull away what something still stands on.
func (w *world) takeBack(process, call string) error {
	key := process + " " + call
	if w.taken[key] && !w.forgetful {
		return nil
	}
	if _, there := w.effects[key]; !there {
		return fmt.Errorf("%s is not there", key)
	}
	for other, given := range w.effects {
		if !strings.HasPrefix(other, process+" ") {
			continue
		}
		for _, m := range effectName.FindAllStringSubmatch(given, -1) {
			if other != key && process+" "+m[1] == key {
				return fmt.Errorf("%s stands on %s", other, key)
			}
		}
	}
	delete(w.effects, key)
	w.taken[key] = true
	return nil
}

// drawnProcess is an instance that has run up to some moment, with its place in the world.
type drawnProcess struct {
	name    string
	run     *modeltest.PlanExecution
	moments map[string][2]int
	steps   int
	// idea is the step by which the Idea was made to which is gone back; doneThen are the Calls that were done.
	idea     int
	doneThen map[string]bool
}

// drawProcess runs a random Plan up to a random moment.
func drawProcess(t *rapid.T, name string) *drawnProcess {
	p := &drawnProcess{name: name, moments: map[string][2]int{}, idea: rapid.IntRange(0, 6).Draw(t, "idea"),
		doneThen: map[string]bool{}}
	p.run = modeltest.NewPlanExecution(modeltest.GeneratePlan(t, modeltest.PlanOptions{MaxCalls: 6, MaxRequests: 2}))
	p.run.AfterStep = p.note
	p.runUpTo(t)
	return p
}

// runUpTo runs the Plan up to a random moment.
func (p *drawnProcess) runUpTo(t *rapid.T) {
	events, stop := 0, rapid.IntRange(0, 60).Draw(t, "stop")
	type stopped struct{}
	defer func() {
		if r := recover(); r != nil && r != (stopped{}) {
			panic(r)
		}
		p.note() // what ended since the last step
	}()
	p.run.RunAll(t, func(n int) int {
		if events++; events > stop {
			panic(stopped{})
		}
		return rapid.IntRange(0, n-1).Draw(t, "event")
	})
}

// note remembers when which Call began and ended.
func (p *drawnProcess) note() {
	p.steps++
	for _, rec := range p.run.Instance.CallRecords() {
		m := p.moments[rec.ID]
		if m[1] == 0 && rec.Status.IsFinal() {
			m[1] = 2 * p.steps
		}
		if _, began := p.run.InputByCallID[rec.ID]; began && m[0] == 0 {
			if m[0] = 2*p.steps + 1; m[1] > 0 {
				m[0] = m[1] // latent: it was asked before
			}
		}
		p.moments[rec.ID] = m
		if p.steps <= p.idea && rec.Status == ideafile.CallDone {
			p.doneThen[rec.ID] = true
		}
	}
}

// record puts what the process did into the world, and gives its Calls as they are on record. Some run processes of
// their own, and these others, as deep as is said: what such a Call did stands as long as anything of that does.
func (p *drawnProcess) record(t *rapid.T, w *world, depth int) (calls []undo.Call) {
	for _, c := range undo.CallsOfInstance(p.run.Instance, modeltest.RandomPlanPalette.Tools) {
		c.ProcessID, c.Result, c.Params = p.name, c.ID, map[string]any{}
		c.StartLogicalTime, c.EndLogicalTime = p.moments[c.ID][0], p.moments[c.ID][1]
		if c.FirstDoneIdeaNumber = 2; p.doneThen[c.ID] {
			c.FirstDoneIdeaNumber = 1
		}
		_, began := p.run.InputByCallID[c.ID]
		c.RanSuccessfully = began && c.Status == ideafile.CallDone
		c.UndoMethod = ideafile.UndoMethod{Kind: ideafile.UndoNotNeeded}
		if c.Tool == "work" {
			c.UndoMethod = rapid.SampledFrom([]ideafile.UndoMethod{remove, remove, remove,
				{Kind: ideafile.UndoImpossible},
				{Kind: ideafile.UndoNotNeeded}, {Kind: ideafile.UndoByProcess}}).Draw(t, "how")
		}
		if c.UndoMethod.Kind == ideafile.UndoByProcess {
			if c.DelegateProcessID = p.name + "/" + c.ID; began && depth > 0 && rapid.Bool().Draw(t, "on record") {
				c.DelegateUndo = p.within(t, w, c.DelegateProcessID, depth-1)
			}
		}
		if c.Status == ideafile.CallFailed && began && rapid.Bool().Draw(t, "unknown") {
			c.Fault = diag.Faultf(ideafile.CodeOutcomeUnknown, "the worker was lost")
		}
		unknown := c.Status == ideafile.CallRunning || c.Fault != nil && c.Fault.Code == ideafile.CodeOutcomeUnknown
		tookEffect := c.UndoMethod.Kind != ideafile.UndoNotNeeded && (c.RanSuccessfully || unknown && rapid.Bool().Draw(t, "took effect"))
		if c.DelegateUndo != nil {
			tookEffect = len(w.of(c.DelegateProcessID)) > 0
		}
		if tookEffect {
			w.effects[p.name+" "+c.ID] = p.run.InputByCallID[c.ID]
		}
		calls = append(calls, c)
	}
	return calls
}

// within draws a process that a Call ran, and how it is taken back.
func (p *drawnProcess) within(t *rapid.T, w *world, name string, depth int) *undo.DelegateUndo {
	plan, err := undo.PlanUndo(drawProcess(t, name).record(t, w, depth), undo.Selection{}, findRemove, noState)
	if err != nil {
		t.Fatal(err)
	}
	return &undo.DelegateUndo{ProcessID: name, Plan: plan}
}

var (
	remove     = ideafile.UndoMethod{Kind: ideafile.UndoByTool, Tool: "remove", Params: map[string]any{"id": "†result"}}
	removeTool = ideafile.ReadTool("remove",
		map[string]any{"properties": map[string]any{"id": map[string]any{"type": "string"}}}, "$", new(diag.Problems))
)

func findRemove(undo.Call, string) *ideafile.Tool { return removeTool }

func noState(undo.Call) any { return map[string]any{} }

// Ten thousand in the long run: go test -rapid.checks=10000.
func TestTheWorldIsAsItWasOrDiffersInWhatWasAnnounced(t *testing.T) {
	t.Parallel()
	rounds := longrun.RepeatCount(1, 100)
	undone, kept, cannot, within := 0, 0, 0, 0
	for range rounds {
		rapid.Check(t, func(t *rapid.T) {
			w := newWorld()
			var calls []undo.Call
			for n := range rapid.IntRange(1, 3).Draw(t, "parts") {
				calls = append(calls, drawProcess(t, fmt.Sprint("p", n)).record(t, w, 2)...)
			}
			toIdea := rapid.IntRange(0, 1).Draw(t, "to Idea")
			p, err := undo.PlanUndo(calls, undo.Selection{AfterIdeaNumber: toIdea}, findRemove, noState)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for _, c := range calls {
				key := c.ProcessID + " " + c.ID
				left := func(l undo.NotUndoneCall) bool { return l.CallID == c.ID && l.ProcessID == c.ProcessID }
				given, there := w.effects[key]
				if !there ||
					c.FirstDoneIdeaNumber > toIdea && !slices.ContainsFunc(p.KeptCalls, left) &&
						!slices.ContainsFunc(p.IrreversibleCalls, left) {
					continue
				}
				want[key] = given
				if c.DelegateUndo != nil {
					for _, key := range w.of(c.DelegateProcessID) {
						want[key] = w.effects[key]
					}
				}
			}
			for range rapid.IntRange(1, 2).Draw(t, "processes that take it back") {
				if err := carryOut(t, p, w); err != nil {
					t.Fatalf("%s; %+v", err, p)
				}
			}
			if !maps.Equal(w.effects, want) {
				t.Fatalf("the world has %q, and %q was announced; %+v", w.effects, want, p)
			}
			undone, kept, cannot = undone+len(p.Steps), kept+len(p.KeptCalls), cannot+len(p.IrreversibleCalls)
			for _, s := range p.Steps {
				if s.DelegateUndo != nil {
					within++
				}
			}
			takeBackAgain(t, calls, p, w)
		})
	}
	if undone == 0 || cannot == 0 || longrun.Enabled() && kept*within == 0 { // a short run may have none
		t.Errorf("%d were taken back, %d of them delegates, %d kept, and %d could not be: nothing was tried", undone,
			within, kept, cannot)
	}
}

// It is the key that keeps the world from seeing a Call taken back twice: without it this is found out.
func TestWithoutItsKeyACallIsTakenBackTwice(t *testing.T) {
	t.Parallel()
	again := 0
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		w.forgetful = true
		p, err := undo.PlanUndo(drawProcess(t, "p").record(t, w, 0), undo.Selection{}, findRemove, noState)
		if err != nil || len(p.Steps) == 0 {
			return
		}
		_ = carryOut(t, p, w) // it may be found out here already
		if err := carryOut(t, p, w); err == nil || !strings.Contains(err.Error(), "is not there") {
			t.Fatalf("%+v is taken back twice, and nobody sees it: %v", p, err)
		}
		again++
	})
	if again == 0 {
		t.Error("nothing was taken back twice: nothing was tried")
	}
}

// carryOut takes the steps in any order that the Plan allows. A worker that is killed takes a step again. The error is
// what the world refuses.
func carryOut(t *rapid.T, p undo.Plan, w *world) error {
	done := map[string]bool{}
	for open := slices.Clone(p.Steps); len(open) > 0; {
		var free []int
		for n, s := range open {
			if !slices.ContainsFunc(s.AfterCallIDs, func(id string) bool { return !done[s.ProcessID+" "+id] }) {
				free = append(free, n)
			}
		}
		if len(free) == 0 {
			t.Fatalf("each of %+v waits for another", open)
		}
		at := rapid.SampledFrom(free).Draw(t, "step")
		s := open[at]
		for range rapid.IntRange(1, 2).Draw(t, "attempts") {
			if s.DelegateUndo != nil {
				if err := carryOut(t, s.DelegateUndo.Plan, w); err != nil {
					return err
				}
				if left := w.of(s.DelegateUndo.ProcessID); len(left) > 0 {
					return fmt.Errorf("%s is taken back, and %q stands", s.CallID, left)
				}
			}
			if err := w.takeBack(s.ProcessID, s.CallID); err != nil {
				return err
			}
		}
		if s.DelegateUndo == nil && s.Params["id"] != s.CallID {
			t.Fatalf("%s is taken back with %v", s.CallID, s.Params)
		}
		done[s.ProcessID+" "+s.CallID] = true
		open = slices.Delete(open, at, at+1)
	}
	return nil
}

// takeBackAgain finds nothing that is to be taken back twice.
func takeBackAgain(t *rapid.T, calls []undo.Call, p undo.Plan, w *world) {
	for n := range calls {
		if slices.ContainsFunc(p.Steps,
			func(s undo.Step) bool { return s.CallID == calls[n].ID && s.ProcessID == calls[n].ProcessID }) {
			calls[n].UndoneByProcessID = "u"
		}
	}
	again, err := undo.PlanUndo(calls, undo.Selection{}, findRemove, noState)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range again.Steps {
		if w.taken[s.ProcessID+" "+s.CallID] {
			t.Fatalf("%s is taken back twice", s.CallID)
		}
	}
	if err := carryOut(t, again, w); err != nil {
		t.Fatalf("%s; %+v", err, again)
	}
}
