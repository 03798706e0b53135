package turn

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
	"strconv"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// This file holds what an Idea of a chain tells of the time before it, in the form in which Snapshot writes it: which Calls
// there were and what became of them, what went wrong, and which instances had ended. A process that starts from such an
// Idea goes on there.

// past is a Call that a record tells of, and how it stands in which instance.
type PastCall struct {
	Request, Index int
	Call           ideafile.WrittenCall
	Status         map[string]ideafile.CallStatus // by token
	Results        map[string]any
	Decisions      map[string][]Decision
}

// Members of an entry of a record beside the statuses.
const (
	recordResults = "results"
	recordDecided = "decided"
)

// pastOf reads the record of a Plan message. Its ids stand for the Plan's Calls in order.
func PastCalls(m ideafile.Message, tokens []string) []PastCall {
	record, _ := m.Source["record"].(map[string]any)
	var list []PastCall
	for _, id := range jsonval.SortedKeys(record) {
		if p, ok := parseCallID(id); ok {
			p.readEntry(jsonval.AsObject(record[id]))
			list = append(list, p)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Request < list[j].Request || list[i].Request == list[j].Request && list[i].Index < list[j].Index
	})
	if len(list) != len(m.Calls) {
		return nil // it is not of this Plan
	}
	for n := range list {
		list[n].Call = m.Calls[n]
		list[n].setStatuses(record[ideafile.CallID(list[n].Request, list[n].Index, "")], tokens)
	}
	return list
}

// parseCallID reads an id without a token, such as 3.2.
func parseCallID(id string) (p PastCall, ok bool) {
	request, index, _ := strings.Cut(id, ".")
	r, errR := strconv.Atoi(request)
	i, errI := strconv.Atoi(index)
	p = PastCall{Request: r, Index: i, Status: map[string]ideafile.CallStatus{}, Results: map[string]any{}, Decisions: map[string][]Decision{}}
	return p, errR == nil && errI == nil && r >= 0 && i > 0 && ideafile.CallID(r, i, "") == id
}

func (p *PastCall) readEntry(entry map[string]any) {
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

// setStatuses says in which instances the Call stands how. Where an entry names none, its one status is for all that the Call is
// for; of several, nobody can say which is whose.
func (p *PastCall) setStatuses(entry any, tokens []string) {
	statuses := jsonval.WithoutKey(jsonval.WithoutKey(jsonval.AsObject(entry), recordResults), recordDecided)
	if s, ok := entry.(string); ok {
		statuses[s] = nil
	}
	for _, s := range jsonval.SortedKeys(statuses) {
		where, named := jsonval.StringList(statuses[s])
		if !named && len(statuses) == 1 {
			where = p.Call.Targets(tokens)
		}
		for _, token := range where {
			p.Status[token] = ideafile.CallStatus(s)
		}
	}
}

// troubleOf reads an error message in the form that troubleMessage writes; ok is false where somebody wrote another.
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

// ForgetWrites takes out of the records of an Idea, in place, that an instance has what Calls wrote at a path: what was taken out of
// State is not done any more.
func ForgetWrites(source map[string]any, token string, path jsonval.Path) {
	idea, _ := ideafile.ReadIdea(source)
	for _, m := range idea.Context {
		record := jsonval.AsObject(m.Source["record"])
		if !m.IsPlanRecord() {
			continue
		}
		for _, p := range PastCalls(m, idea.Tokens()) {
			if _, there := p.Status[token]; there && writesAt(idea, p.Call, path) {
				id := ideafile.CallID(p.Request, p.Index, "")
				record[id] = withoutInstance(jsonval.AsObject(record[id]), string(p.Status[token]), token)
			}
		}
	}
}

// writesAt reports whether a Call has an output path at which a write can be seen at another path.
func writesAt(i *ideafile.Idea, w ideafile.WrittenCall, path jsonval.Path) bool {
	output, ok := i.OutputPathOf(w)
	return ok && slices.ContainsFunc(output.Paths(), path.Overlaps)
}

// withoutInstance is an entry of a record that does not say any more how its Call stands in an instance.
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

// CallCounts is how many Calls ended how, as `run --json` tells it.
type CallCounts struct {
	Done     int `json:"done"`
	Failed   int `json:"failed"`
	Rejected int `json:"rejected"`
	Skipped  int `json:"skipped"`
	Blocked  int `json:"blocked"`
}

// Total is how many Calls have ended in all.
func (c CallCounts) Total() int { return c.Done + c.Failed + c.Rejected + c.Skipped + c.Blocked }

// Increment adds one Call.
func (c *CallCounts) Increment(s ideafile.CallStatus) {
	switch s {
	case ideafile.Done:
		c.Done++
	case ideafile.Failed:
		c.Failed++
	case ideafile.Rejected:
		c.Rejected++
	case ideafile.Skipped:
		c.Skipped++
	case ideafile.Blocked:
		c.Blocked++
	}
}

// Add adds another count.
func (c *CallCounts) Add(o CallCounts) {
	c.Done += o.Done
	c.Failed += o.Failed
	c.Rejected += o.Rejected
	c.Skipped += o.Skipped
	c.Blocked += o.Blocked
}
