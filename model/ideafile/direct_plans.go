package ideafile

import (
	"slices"
	"strconv"
	"strings"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// The stages of a Plan that runs directly.
const (
	StageOptimal  = "optimal"  // an instance in which a Call fails or blocks falls back to the LLM
	StageComplete = "complete" // the LLM is never asked: such an instance fails
)

// RunsDirectly reports whether the Message is a Plan that runs without a Request. Other Plans guide the LLM.
func (m Message) RunsDirectly() bool { return m.Stage != "" }

// DirectPlans are the Plans of a context that run directly, as positions in it by the instance that owns them.
type DirectPlans struct {
	context []Message
	byOwner map[string][]int
}

// FindDirectPlans returns the Plans of a context that run directly.
func FindDirectPlans(context []Message) DirectPlans {
	d := DirectPlans{context: context, byOwner: map[string][]int{}}
	for n, m := range context {
		if m.RunsDirectly() {
			d.byOwner[m.Instance] = append(d.byOwner[m.Instance], n)
		}
	}
	return d
}

// Choose returns the position of an instance's Plan: the first one that applies to its view, its own Plans before the shared ones. It
// returns -1 if none applies; llmForbidden then reports whether there are Plans and all are StageComplete.
func (d DirectPlans) Choose(token string, view View) (at int, llmForbidden bool) {
	plans := d.byOwner[token]
	if token != "" {
		plans = append(plans[:len(plans):len(plans)], d.byOwner[""]...)
	}
	llmForbidden = len(plans) > 0
	for _, n := range plans {
		if d.context[n].AppliesTo(view) {
			return n, false
		}
		llmForbidden = llmForbidden && d.context[n].Stage == StageComplete
	}
	return -1, llmForbidden
}

// AppliesTo reports whether a Plan's `when` holds for an instance's view. One that cannot be evaluated does not hold.
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

// readDirectPlanKeys reads the keys of a Plan message that runs directly.
func (m *Message) readDirectPlanKeys(path string, ps *diag.Problems) {
	switch stage := m.Source["stage"]; stage {
	case nil:
	case StageOptimal, StageComplete:
		m.Stage = stage.(string)
	default:
		ps.Add(path+".stage", "want %s or %s; without a stage the Plan guides the LLM", StageOptimal, StageComplete)
	}
	m.Name = readOptionalText(m.Source, "name", path, ps)
	if when := m.Source["when"]; when != nil {
		m.When = compileSchema(when, path+".when", ps)
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
		_, isCallID := parseCallKey(id)
		_, isText := record[id].(string)
		_, isCount := record[id].(map[string]any)
		if m.RunsDirectly() && (!isCallID || (!isText && !isCount)) {
			ps.Add(jsonval.JSONPathKey(path+".record", id), `want a status, or how many instances have which, by a Call's id such as "0.1" or "0.1@①"`)
		}
	}
	m.Record = record
}

// parseCallKey reads a Call's id, with or without an instance.
func parseCallKey(id string) (k CallKey, ok bool) {
	place, _, _ := strings.Cut(id, "@")
	request, index, hasDot := strings.Cut(place, ".")
	var errRequest, errIndex error
	k.Request, errRequest = strconv.Atoi(request)
	k.Index, errIndex = strconv.Atoi(index)
	return k, hasDot && errRequest == nil && errIndex == nil && k.Request >= 0 && k.Index > 0
}

// RecordedDone reports whether a Plan's record says that its Call at an index, from 1, is done in an instance.
func (m Message) RecordedDone(index int, token string) bool {
	id, ok := m.RecordedCallID(index)
	if !ok {
		return false
	}
	if entry, ok := m.Record[id+"@"+token]; ok && token != "" {
		return isDoneEntry(entry)
	}
	return isDoneEntry(m.Record[id])
}

// RecordedCallID returns the id under which a Plan's record has its Call at an index, from 1. The Calls of a Plan that ran directly
// are 0.1, 0.2, …; in a Plan that Requests made, the ids of the record, in order, are those of the Plan's Calls.
func (m Message) RecordedCallID(index int) (string, bool) {
	var keys []CallKey
	direct := true
	//workflowcheck:ignore -- sorted below
	for id := range m.Record {
		if k, ok := parseCallKey(id); ok {
			keys = append(keys, k)
			direct = direct && k.Request == 0
		}
	}
	if direct {
		return FormatCallID(0, index, ""), len(keys) > 0
	}
	slices.SortFunc(keys, CallKey.Compare)
	keys = slices.Compact(keys) // an id may stand once for each instance
	if len(keys) != len(m.Calls) {
		return "", false
	}
	return keys[index-1].ID(""), true
}

// isDoneEntry reports whether a record's entry is done: a status, or an object with statuses as keys, if some instances are done and all
// others skipped.
func isDoneEntry(entry any) bool {
	counts, ok := entry.(map[string]any)
	if !ok {
		return entry == string(Done)
	}
	for _, status := range jsonval.SortedKeys(counts) {
		if status != string(Done) && status != string(Skipped) {
			return false
		}
	}
	return counts[string(Done)] != nil
}

// LatentCallsWithoutResult lists the positions of the Plan's Calls whose results the LLM would have to write.
func (i *Idea) LatentCallsWithoutResult(plan Message, bindings map[string]Binding) []int {
	var list []int
	for n, w := range plan.Calls {
		if bindings[w.Tool].Kind == KindLatent && w.object["_output"] == nil && !plan.RecordedDone(n+1, plan.Instance) {
			list = append(list, n)
		}
	}
	return list
}
