package model

import (
	"bytes"
	"encoding/json"
	"sort"
	"strconv"
	"strings"
)

// This file holds what an Idea of a chain tells of the time before it, in the form in which Snapshot writes it: which Calls
// there were and what became of them, what went wrong, and which instances had ended. A process that starts from such an
// Idea goes on there.

// past is a Call that a record tells of, and how it stands in which instance.
type past struct {
	request, index int
	call           any
	how            map[string]Status // by token
	results        map[string]any
	decisions      map[string][]Decision
}

// Members of an entry of a record beside the statuses.
const (
	recordResults = "results"
	recordDecided = "decided"
)

// isRecord says whether a message is a Plan with a record of what became of its Calls. One that runs by itself has a stage,
// and its record is read where it runs.
func (m Message) isRecord() bool {
	return m.Type == TypePlan && m.Source["stage"] == nil && TypeOf(m.Source["record"]) == "object"
}

// pastOf reads the record of a Plan message. Its ids stand for the Plan's Calls in order.
func pastOf(m Message, tokens []string) []past {
	record, _ := m.Source["record"].(map[string]any)
	var list []past
	for _, id := range sortedKeys(record) {
		if p, ok := parseCallID(id); ok {
			p.read(asObject(record[id]))
			list = append(list, p)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].request < list[j].request || list[i].request == list[j].request && list[i].index < list[j].index
	})
	if len(list) != len(m.Calls) {
		return nil // it is not of this Plan
	}
	for n := range list {
		list[n].call = m.Calls[n]
		list[n].place(record[CallID(list[n].request, list[n].index, "")], tokens)
	}
	return list
}

// parseCallID reads an id without a token, such as 3.2.
func parseCallID(id string) (p past, ok bool) {
	request, index, _ := strings.Cut(id, ".")
	r, errR := strconv.Atoi(request)
	i, errI := strconv.Atoi(index)
	p = past{request: r, index: i, how: map[string]Status{}, results: map[string]any{}, decisions: map[string][]Decision{}}
	return p, errR == nil && errI == nil && r >= 0 && i > 0 && CallID(r, i, "") == id
}

func (p *past) read(entry map[string]any) {
	if given := asObject(entry[recordResults]); given != nil {
		p.results = given
	}
	d := json.NewDecoder(bytes.NewReader(Encode(entry[recordDecided])))
	d.UseNumber()
	var decided []Decided
	if d.Decode(&decided) != nil {
		return
	}
	for _, one := range decided {
		p.decisions[one.Token] = append(p.decisions[one.Token], one.Decision)
	}
}

// place says in which instances the Call stands how. Where an entry names none, its one status is for all that the Call is
// for; of several, nobody can say which is whose.
func (p *past) place(entry any, tokens []string) {
	statuses := withoutKey(withoutKey(asObject(entry), recordResults), recordDecided)
	if s, ok := entry.(string); ok {
		statuses[s] = nil
	}
	for _, s := range sortedKeys(statuses) {
		where, named := stringList(statuses[s])
		if !named && len(statuses) == 1 {
			where = targetsOf(p.call, tokens)
		}
		for _, token := range where {
			p.how[token] = Status(s)
		}
	}
}

func targetsOf(call any, tokens []string) []string {
	m, _ := call.(map[string]any)
	if token, ok := m["_instance"].(string); ok && token != "*" {
		return []string{token}
	}
	return tokens
}

func asObject(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// troubleOf reads an error message in the form that troubleMessage writes; ok is false where somebody wrote another.
func troubleOf(m Message) (t Trouble, ok bool) {
	e := asObject(m.Source["error"])
	code, isCode := e["code"].(string)
	text, isText := e["message"].(string)
	if m.Type != TypeError || !isCode || !isText {
		return t, false
	}
	t.Fault = Fault{Code: code, Message: text}
	t.Call, _ = m.Source["call"].(string)
	t.Instances, _ = stringList(m.Source["instances"])
	return t, true
}

// Forget takes out of the records of an Idea, in place, that an instance has what Calls wrote at a path: what was taken out of
// State is not done any more.
func Forget(source map[string]any, token string, path Path) {
	idea, _ := ReadIdea(source)
	for _, m := range idea.Context {
		record := asObject(m.Source["record"])
		if !m.isRecord() {
			continue
		}
		for _, p := range pastOf(m, idea.Tokens()) {
			if _, there := p.how[token]; there && idea.writesAt(p.call, path) {
				id := CallID(p.request, p.index, "")
				record[id] = without(asObject(record[id]), string(p.how[token]), token)
			}
		}
	}
}

// writesAt says whether a Call, as written, has an output path at which a write can be seen at another path.
func (i *Idea) writesAt(raw any, path Path) bool {
	call := asObject(raw)
	name, _ := call["_tool"].(string)
	t := i.Tool(name)
	if t == nil {
		return false
	}
	var c Call
	if t.readCallOutput(&c, call) != nil {
		return false
	}
	for _, p := range c.OutputPath.Paths() {
		if p.Overlaps(path) {
			return true
		}
	}
	return false
}

// without is an entry of a record that does not say any more how its Call stands in an instance.
func without(entry map[string]any, status, token string) map[string]any {
	where, named := stringList(entry[status])
	left := []any{}
	for _, t := range where {
		if t != token {
			left = append(left, t)
		}
	}
	out := withoutKey(entry, status)
	if named && len(left) > 0 {
		out[status] = left
	}
	return out
}
