package ideafile

import (
	"slices"
	"strconv"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// This file holds the Plans that run directly, with no Request: which one is an instance's, and which of its Calls are done
// already.

// The stages of a Plan that runs directly.
const (
	StageOptimal  = "optimal"  // an instance in which something fails or blocks goes back to the LLM
	StageComplete = "complete" // nobody is ever asked: it fails
)

// direct says whether the Message is a Plan that runs with no Request.
func (m Message) RunsDirectly() bool { return m.Stage != "" }

// directPlans is the Plans of a context that run directly, by whom they belong to, as places in it.
type DirectPlans struct {
	context []Message
	byOwner   map[string][]int
}

func FindDirectPlans(context []Message) DirectPlans {
	d := DirectPlans{context: context, byOwner: map[string][]int{}}
	for n, m := range context {
		if m.RunsDirectly() {
			d.byOwner[m.Instance] = append(d.byOwner[m.Instance], n)
		}
	}
	return d
}

// choose gives the Plan of an instance: the first whose `when` holds over what the instance sees, its own before the shared
// ones; -1 where there is none. Then barred says that there are only such for which nobody may be asked.
func (d DirectPlans) Choose(token string, view View) (at int, noPlanMatched bool) {
	plans := d.byOwner[token]
	if token != "" {
		plans = append(plans[:len(plans):len(plans)], d.byOwner[""]...)
	}
	noPlanMatched = len(plans) > 0
	for _, n := range plans {
		if d.context[n].AppliesTo(view) {
			return n, false
		}
		noPlanMatched = noPlanMatched && d.context[n].Stage == StageComplete
	}
	return -1, noPlanMatched
}

// holds says whether a Plan's condition holds over what an instance sees. One that cannot be evaluated does not.
func (m Message) AppliesTo(view View) bool {
	if m.When == nil {
		return true
	}
	seen := map[string]any{TypeState: map[string]any{}}
	//workflowcheck:ignore -- a map again
	for kind, payload := range view.Payload {
		seen[kind] = payload
	}
	holds, err := m.When.Matches(seen)
	return holds && err == nil
}

// readStage reads what makes a Plan run directly, and when.
func (m *Message) readStage(path string, ps *diag.Problems) {
	switch stage := m.Source["stage"]; stage {
	case nil:
	case StageOptimal, StageComplete:
		m.Stage = stage.(string)
	default:
		ps.Add(path+".stage", "want %s or %s; without a stage the Plan guides the LLM", StageOptimal, StageComplete)
	}
	if name := m.Source["name"]; name != nil {
		var ok bool
		if m.Name, ok = name.(string); !ok {
			ps.Add(path+".name", "want a string, not %s", jsonval.TypeOf(name))
		}
	}
	if when := m.Source["when"]; when != nil {
		var err error
		if m.When, err = jsonschema.CompileSchema(when); err != nil {
			ps.Add(path+".when", "%s", strings.TrimPrefix(err.Error(), "model: "))
		}
	}
	m.Output = m.Source["output"]
	m.readRecord(path, ps)
}

func (m *Message) readRecord(path string, ps *diag.Problems) {
	v := m.Source["record"]
	if v == nil {
		return
	}
	record, ok := v.(map[string]any)
	if !ok {
		ps.Add(path+".record", "want an object with a Call's status by its id, not %s", jsonval.TypeOf(v))
		return
	}
	for _, id := range jsonval.SortedKeys(record) {
		_, _, isCallID := parseCallKey(id)
		_, isText := record[id].(string)
		_, isCount := record[id].(map[string]any)
		if m.RunsDirectly() && (!isCallID || !isText && !isCount) {
			ps.Add(jsonval.JSONPathKey(path+".record", id), `want a status, or how many instances have which, by a Call's id such as "0.1" or "0.1@①"`)
		}
	}
	m.Record = record
}

// parseCallKey reads the Request and the index of a Call's id, with or without an instance.
func parseCallKey(id string) (request, index int, ok bool) {
	place, _, _ := strings.Cut(id, "@")
	r, i, cut := strings.Cut(place, ".")
	request, errR := strconv.Atoi(r)
	index, errI := strconv.Atoi(i)
	return request, index, cut && errR == nil && errI == nil && request >= 0 && index > 0
}

// recorded says whether the record beside a Plan says of one of its Calls, from 1, that it is done in an instance.
func (m Message) RecordedDone(index int, token string) bool {
	id, ok := m.RecordedCallID(index)
	if !ok {
		return false
	}
	if how, own := m.Record[id+"@"+token]; own && token != "" {
		return isDone(how)
	}
	return isDone(m.Record[id])
}

// recordID is the id by which a Plan's Call is recorded: that of a Plan that ran directly, or, of Calls from several
// Requests, the one that stands as far from the front.
func (m Message) RecordedCallID(index int) (string, bool) {
	places := map[CallKey]bool{}
	direct := true
	//workflowcheck:ignore -- sorted below
	for id := range m.Record {
		if request, index, ok := parseCallKey(id); ok {
			places[CallKey{Request: request, Index: index}] = true
			direct = direct && request == 0
		}
	}
	if direct {
		return CallID(0, index, ""), len(places) > 0
	}
	if len(places) != len(m.Calls) {
		return "", false
	}
	var order []CallKey
	//workflowcheck:ignore -- sorted below
	for p := range places {
		order = append(order, p)
	}
	slices.SortFunc(order, CallKey.Compare)
	return order[index-1].ID(""), true
}

// isDone reads a status, or how many instances have which: done is what all of them have done, or need not.
func isDone(how any) bool {
	if counts, ok := how.(map[string]any); ok {
		done := counts[string(Done)] != nil
		for _, status := range jsonval.SortedKeys(counts) {
			done = done && (status == string(Done) || status == string(Skipped))
		}
		return done
	}
	return how == string(Done)
}

// leftOpen lists the Calls of a Plan, by place, whose results the LLM would have to write.
func (i *Idea) LatentCallsWithoutResult(plan Message, bindings map[string]Binding) []int {
	var list []int
	for n, w := range plan.Calls {
		if bindings[w.Tool].Kind == KindLatent && w.object["_output"] == nil && !plan.RecordedDone(n+1, plan.Instance) {
			list = append(list, n)
		}
	}
	return list
}
