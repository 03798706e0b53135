package dataflow_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
)

// drawnDecisions says of each Call what people decide on it: the first time it waits the first of the list, and so on;
// after the list they approve.
type drawnDecisions map[string][]approval.Decision

func (d drawnDecisions) String() string {
	var b strings.Builder
	for _, id := range sortedIDs(d) {
		fmt.Fprintf(&b, "%s is decided on by %s\n", id, jsonval.Encode(jsonval.ToJSONValue(d[id])))
	}
	return b.String()
}

func sortedIDs(d drawnDecisions) []string {
	var ids []string
	for id := range d {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// expired marks a decision that nobody takes: the deadline does.
const expired = "expire"

func drawDecisions(t *rapid.T, p modeltest.RandomPlan) drawnDecisions {
	all := drawnDecisions{}
	for _, calls := range p.Requests {
		for _, c := range calls {
			for range rapid.IntRange(0, 2).Draw(t, "decisions") {
				all[c.ID()] = append(all[c.ID()], drawDecision(t, c.ID()))
			}
		}
	}
	return all
}

func drawDecision(t *rapid.T, id string) approval.Decision {
	d := approval.Decision{CallID: id, DecidedBy: "ann",
		Kind: rapid.SampledFrom(append(policy.DecisionKinds(), expired)).Draw(t, "decision")}
	switch d.Kind {
	case policy.Reject:
		d.Reason = "no"
	case policy.Amend:
		d.AmendedParams = map[string]any{"by": "hand",
			"p0": rapid.SampledFrom([]any{nil, "†state.a", "safe"}).Draw(t, "params")}
	case policy.Answer:
		d.AnswerResult = rapid.SampledFrom([]any{"answered", map[string]any{"b": "answered"}, nil}).Draw(t, "output")
	case policy.Replace:
		d.Replacement = map[string]any{"_tool": rapid.SampledFrom([]string{"work", "free", "think", "nobody"}).Draw(t,
			"tool"), "p0": rapid.SampledFrom([]any{"†state.a", "†input.x", "x"}).Draw(t, "with")}
	}
	return d
}

// watchedTools asks people about Calls of work, unless they are given nothing unsafe, and of think; free runs unasked.
// Whoever is late rejects work and approves think.
func watchedTools() ideafile.Palette {
	var ps diag.Problems
	source := map[string]any{"_outputMethod": map[string]any{"type": "string"},
		"_scopes": map[string]any{"type": "array"}}
	p := ideafile.Palette{BindingByTool: map[string]ideafile.ToolBinding{}}
	for name, c := range map[string]struct {
		approval any
		kind     ideafile.ToolKind
	}{
		"work": {
			modeltest.MustDecodeJSON(
				`{"when":{"not":{"properties":{"p0":{"const":"safe"}},"required":["p0"]}},"timeout":"1h"}`),
			ideafile.KindGo},
		"think": {modeltest.MustDecodeJSON(`{"timeout":"1h","onTimeout":"approve"}`), ideafile.KindLatent},
		"free":  {nil, ideafile.KindGo},
	} {
		p.Tools = append(p.Tools,
			ideafile.ReadTool(name, jsonval.DeepMerge(source, map[string]any{"_approval": c.approval}).(map[string]any),
				"$", &ps))
		p.BindingByTool[name] = ideafile.ToolBinding{Kind: c.kind, GoFunctionName: name}
	}
	slices.SortFunc(p.Tools, func(a, b *ideafile.Tool) int { return strings.Compare(a.Name, b.Name) })
	if ps != nil {
		panic(ps.Error())
	}
	return p
}

// watched is a play in which people decide. shown is what was shown last of each Call, cleared what a person let run.
type watched struct {
	*modeltest.PlanExecution
	decisions drawnDecisions
	shown     map[string]string
	ran       map[string]bool
	kinds     map[string]int // decisions that were taken
	carries   bool           // to another run of the workflow, after every step
}

func newWatched(plan modeltest.RandomPlan, decisions drawnDecisions) *watched {
	p := modeltest.NewPlanExecution(plan)
	_, context, _ := p.Instance.StartParameters()
	p.Instance = dataflow.New(watchedTools(), context, "")
	p.Instance.SetTime(modeltest.StartTime)
	return &watched{PlanExecution: p, decisions: decisions, shown: map[string]string{}, ran: map[string]bool{},
		kinds: map[string]int{}}
}

// next runs what may run, and checks that people were asked where they must be and that what they saw is what runs.
func (w *watched) next(t modeltest.Fataler) {
	for _, ready := range w.Instance.Advance() {
		rec := ready.Record
		last := approval.Decision{}
		if len(rec.Decisions) > 0 {
			last = rec.Decisions[len(rec.Decisions)-1]
		}
		given := string(jsonval.Encode(map[string]any{"params": ready.Params, "scopes": ready.ScopeValues}))
		seen, asked := w.shown[rec.ID]
		switch asks := ideafile.FindTool(watchedTools().Tools, rec.Tool).Approval.RequiresReviewOf(ready.Params); {
		case w.ran[rec.ID]:
			t.Fatalf("%s started twice", rec.ID)
		case asks && last.Kind != policy.Approve:
			t.Fatalf("%s runs, and nobody has approved it: %+v", rec.ID, rec.Decisions)
		case asks && (!asked || seen != given):
			t.Fatalf("%s runs with %s, and shown was %s", rec.ID, given, seen)
		}
		w.ran[rec.ID] = true
		w.InputByCallID[rec.ID] = given
		w.RunningCalls = append(w.RunningCalls, ready)
	}
	for _, p := range w.Instance.PendingApprovals() {
		if w.ran[p.CallID] {
			t.Fatalf("%s has run, and people are asked about it", p.CallID)
		}
		w.shown[p.CallID] = string(jsonval.Encode(map[string]any{"params": p.Params, "scopes": p.ScopeValues}))
	}
}

// decide takes the next decision on a Call that waits. One that is refused changes nothing and is passed over.
func (w *watched) decide(t modeltest.Fataler, p approval.PendingCall) {
	d := approval.Decision{CallID: p.CallID, Kind: policy.Approve, DecidedBy: "bob"}
	if list := w.decisions[p.CallID]; len(list) > 0 {
		d, w.decisions[p.CallID] = list[0], list[1:]
	}
	d.ApprovalDigest = p.Digest
	if d.Kind == expired { // of this Call alone, so that other deadlines do not depend on the order
		w.Instance.ExpireCall(w.Instance.FindCall(p.CallID))
		w.kinds[expired]++
		return
	}
	before := w.DescribeOutcome() + string(jsonval.Encode(jsonval.ToJSONValue(w.Instance.PendingApprovals())))
	if err := w.Instance.ApplyDecision(d); err == nil {
		w.kinds[d.Kind]++
		if rec := w.Instance.FindCall(p.CallID); d.Kind == policy.Amend {
			want := jsonval.DeepMerge(p.Params, d.AmendedParams).(map[string]any)
			if want["p0"] == nil {
				delete(want, "p0")
			}
			if params, err := w.Instance.ResolvedParams(rec); err != nil || !jsonval.Equal(params, want) {
				t.Fatalf("%s was amended by %s to %s and has %s, %v", p.CallID, jsonval.Encode(d.AmendedParams),
					jsonval.Encode(want), jsonval.Encode(params), err)
			}
		}
	} else if after := w.DescribeOutcome() +
		string(jsonval.Encode(jsonval.ToJSONValue(w.Instance.PendingApprovals()))); after != before {
		t.Fatalf("a refused decision (%s) made\n%s\nof\n%s", err, after, before)
	} else if d.Kind == policy.Approve {
		t.Fatalf("%s cannot be approved: %s", p.CallID, err)
	}
}

// through plays the Plan as play.through does, with people.
func (w *watched) through(t modeltest.Fataler, choose func(n int) int) {
	for n, calls := range w.Plan.Requests {
		at, closed := 0, false
		for {
			w.next(t)
			var steps []func()
			if !closed {
				steps = append(steps, func() {
					if at == len(calls) {
						closed = true
						w.Instance.CloseRequest(n + 1)
						return
					}
					w.AcceptCall(calls[at])
					at++
				})
			}
			for at := range w.RunningCalls {
				steps = append(steps, func() { w.EndCall(at) })
			}
			for _, rec := range w.Instance.CallsAwaitingLLM() {
				steps = append(steps, func() { w.AnswerLatent(t, rec) })
			}
			for _, p := range w.Instance.PendingApprovals() {
				steps = append(steps, func() { w.decide(t, p) })
			}
			if len(steps) == 0 {
				break
			}
			steps[choose(len(steps))]()
			if w.carries {
				w.Instance = modeltest.ContinueInstanceAsNew(t, w.Instance)
			}
		}
	}
}

func TestPeopleDecideOnAnyPlanAndEveryCallReachesAnEnd(t *testing.T) {
	t.Parallel()
	taken := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		plan := modeltest.GeneratePlan(rt, anyPlan)
		w := newWatched(plan, drawDecisions(rt, plan))
		w.through(rt, drawnOrder(rt, "order"))
		for _, rec := range w.Instance.CallRecords() {
			if !rec.Status.IsFinal() || rec.PendingApproval != nil {
				rt.Fatalf("%s is still %s in\n%s", rec.ID, rec.Status, plan)
			}
		}
		for kind, n := range w.kinds {
			taken[kind] += n
		}
	})
	for _, kind := range append(policy.DecisionKinds(), expired) {
		if !testing.Short() && taken[kind] == 0 {
			t.Errorf("nobody ever took the decision %s: the test tests too little", kind)
		}
	}
}

func TestTheOutcomeOfDecisionsDoesNotDependOnTheOrderOfThings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		plan := modeltest.GeneratePlan(rt, anyPlan)
		decisions := drawDecisions(rt, plan)
		text := decisions.String()
		first, second := newWatched(plan, maps.Clone(decisions)), newWatched(plan, maps.Clone(decisions))
		first.through(rt, modeltest.PickFirst)
		second.carries = rapid.Bool().Draw(rt, "carried on after every step")
		second.through(rt, drawnOrder(rt, "order"))
		if a, b := first.DescribeOutcome(), second.DescribeOutcome(); a != b {
			rt.Fatalf("%s%s\none order:\n%s\nanother:\n%s", plan, text, a, b)
		}
	})
}
