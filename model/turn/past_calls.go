package turn

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// This file reads what Snapshot wrote, so that a process can continue from an Idea of another process's chain.

// PastCall is a Call of the process that wrote the Idea, with its fate by instance token.
type PastCall struct {
	Request, Index int
	Call           ideafile.WrittenCall
	Status         map[string]ideafile.CallStatus
	Results        map[string]any
	Decisions      map[string][]Decision
}

func (p PastCall) key() ideafile.CallKey { return ideafile.CallKey{Request: p.Request, Index: p.Index} }

// Keys of a record's entry beside the statuses.
const (
	recordResults = "results"
	recordDecided = "decided"
)

// PastCalls reads the record of a Plan message. The record's ids, in order, stand for the Plan's Calls. tokens are the instances
// of an entry that names none.
func PastCalls(m ideafile.Message, tokens []string) []PastCall {
	record, _ := m.Source["record"].(map[string]any)
	var list []PastCall
	for _, id := range jsonval.SortedKeys(record) {
		if p, ok := parseCallID(id); ok {
			p.readPlanEntry(jsonval.AsObject(record[id]))
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b PastCall) int { return a.key().Compare(b.key()) })
	if len(list) != len(m.Calls) {
		return nil // the record belongs to another Plan
	}
	for n := range list {
		list[n].Call = m.Calls[n]
		list[n].setStatuses(record[list[n].key().ID("")], tokens)
	}
	return list
}

// parseCallID reads an id without an instance, such as 3.2.
func parseCallID(id string) (p PastCall, ok bool) {
	request, index, _ := strings.Cut(id, ".")
	r, errR := strconv.Atoi(request)
	i, errI := strconv.Atoi(index)
	p = PastCall{Request: r, Index: i, Status: map[string]ideafile.CallStatus{}, Results: map[string]any{}, Decisions: map[string][]Decision{}}
	return p, errR == nil && errI == nil && r >= 0 && i > 0 && ideafile.FormatCallID(r, i, "") == id
}

func (p *PastCall) readPlanEntry(entry map[string]any) {
	if results := jsonval.AsObject(entry[recordResults]); results != nil {
		p.Results = results
	}
	d := json.NewDecoder(bytes.NewReader(jsonval.Encode(entry[recordDecided])))
	d.UseNumber()
	var decided []InstanceDecision
	if d.Decode(&decided) != nil {
		return
	}
	for _, one := range decided {
		p.Decisions[one.Token] = append(p.Decisions[one.Token], one.Decision)
	}
}

// setStatuses reads the Call's status in each instance. An entry that names no instances and has one status means every instance
// that the Call is for; with several statuses it cannot be told which instance has which, and none is set.
func (p *PastCall) setStatuses(entry any, tokens []string) {
	statuses := jsonval.WithoutKey(jsonval.WithoutKey(jsonval.AsObject(entry), recordResults), recordDecided)
	if s, ok := entry.(string); ok {
		statuses[s] = nil
	}
	for _, s := range jsonval.SortedKeys(statuses) {
		where, named := jsonval.StringList(statuses[s])
		if !named && len(statuses) == 1 {
			where = p.Call.TargetInstances(tokens)
		}
		for _, token := range where {
			p.Status[token] = ideafile.CallStatus(s)
		}
	}
}

// ReadContextError reads an error message in the form that Snapshot writes; ok is false for any other form.
func ReadContextError(m ideafile.Message) (t ContextError, ok bool) {
	e := jsonval.AsObject(m.Source["error"])
	code, isCode := e["code"].(string)
	text, isText := e["message"].(string)
	if m.Type != ideafile.TypeError || !isCode || !isText {
		return t, false
	}
	t.Fault = diag.Fault{Code: code, Message: text}
	t.Call, _ = m.Source["call"].(string)
	t.Instances, _ = jsonval.StringList(m.Source["instances"])
	return t, true
}

// ForgetWrites changes the records of an Idea in place after a path was removed from an instance's State: the Calls that wrote
// there are not done any more, and may run again.
func ForgetWrites(source map[string]any, token string, path jsonval.Path) {
	idea, _ := ideafile.ReadIdea(source)
	for _, m := range idea.Context {
		record := jsonval.AsObject(m.Source["record"])
		if !m.IsPlanRecord() {
			continue
		}
		for _, p := range PastCalls(m, idea.InstanceTokens()) {
			if _, there := p.Status[token]; there && writesAt(idea, p.Call, path) {
				id := ideafile.FormatCallID(p.Request, p.Index, "")
				record[id] = withoutInstance(jsonval.AsObject(record[id]), string(p.Status[token]), token)
			}
		}
	}
}

// writesAt reports whether one of a Call's output paths overlaps a path.
func writesAt(i *ideafile.Idea, w ideafile.WrittenCall, path jsonval.Path) bool {
	output, ok := i.OutputPathOf(w)
	return ok && slices.ContainsFunc(output.Paths(), path.Overlaps)
}

// withoutInstance returns a record's entry without the status of its Call in one instance.
func withoutInstance(entry map[string]any, status, token string) map[string]any {
	where, named := jsonval.StringList(entry[status])
	left := []any{}
	for _, t := range where {
		if t != token {
			left = append(left, t)
		}
	}
	out := jsonval.WithoutKey(entry, status)
	if named && len(left) > 0 {
		out[status] = left
	}
	return out
}
