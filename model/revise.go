package model

import (
	"errors"
	"fmt"
)

// This file holds what people change while a process runs: corrections, and more instances.

// The signals by which people steer a process.
const (
	SteerPause  = "pause"
	SteerResume = "resume"
	SteerRevise = "revise"
	SteerAdd    = "add"
)

// Steering is the payload of such a signal.
type Steering struct {
	ID, By, Reason string
	// Limits of resume and revise; 0 keeps one.
	Limits Limits
	// Context is the messages of revise and add, as written.
	Context []any
}

// ReadSteering reads the payload of a steering signal: id, by and reason, for resume limits, for add context, for revise
// context and limits.
func ReadSteering(kind string, m map[string]any) (s Steering, err error) {
	own := map[string]any{}
	texts := map[string]any{}
	for _, k := range sortedKeys(m) {
		if k == "limits" && (kind == SteerResume || kind == SteerRevise) || k == "context" && (kind == SteerRevise || kind == SteerAdd) {
			own[k] = m[k]
		} else {
			texts[k] = m[k]
		}
	}
	if err := readTexts(texts, "", map[string]*string{"id": &s.ID, "by": &s.By, "reason": &s.Reason}); err != nil {
		return s, err
	}
	var ps Problems
	s.Limits = ReadLimits(object(own, "limits", "$", &ps), "$.limits", &ps)
	if c, ok := own["context"]; ok {
		if s.Context, ok = c.([]any); !ok {
			ps.add("$.context", "want a list of messages, not %s", TypeOf(c))
		}
	}
	for n, raw := range s.Context {
		if markedSimulated(raw) {
			ps.add(fmt.Sprintf("$.context[%d]", n), "it is marked as simulated: nothing in it is real")
		}
	}
	switch {
	case len(ps) > 0:
		return s, ps
	case kind == SteerAdd && len(s.Context) == 0, kind == SteerRevise && len(s.Context) == 0 && s.Limits == Limits{}:
		return s, fmt.Errorf("it says nothing: %q is missing", "context")
	}
	return s, nil
}

// readAll reads messages that come from people.
func readAll(context []any) ([]Message, error) {
	var ps Problems
	var list []Message
	for n, raw := range context {
		if m, ok := ReadMessage(raw, fmt.Sprintf("$.context[%d]", n), &ps); ok {
			list = append(list, m)
		}
	}
	if errs := ps.Errors(); len(errs) > 0 {
		return nil, errs
	}
	return list, nil
}

// Revise takes a correction: messages that come after all others, and limits. It gives the instances that must be told,
// or says why nothing has changed.
func (m *Mind) Revise(s Steering) (touched []*Member, err error) {
	messages, err := readAll(s.Context)
	if err != nil {
		return nil, err
	}
	concerned := map[*Member]bool{}
	for n, msg := range messages {
		members, err := m.concerned(msg)
		if err == nil && msg.direct() {
			err = errors.New("a Plan that runs directly begins with its instance; without its stage it guides the next Request")
		}
		if err != nil {
			return nil, fmt.Errorf("$.context[%d]: %w", n, err)
		}
		for _, mem := range members {
			if err := m.admits(mem, msg); err != nil {
				return nil, fmt.Errorf("$.context[%d]: %w", n, err)
			}
			concerned[mem] = concerned[mem] || msg.Kind != ""
		}
	}
	m.idea = m.idea.withMessages(messages)
	m.setLimits(s.Limits)
	for _, mem := range m.members {
		told, about := concerned[mem]
		mem.revised = mem.revised || about
		if told {
			mem.corrected++
			touched = append(touched, mem)
		}
	}
	return touched, nil
}

// Corrected says whether every instance has taken in what was revised.
func (m *Mind) Corrected() bool {
	for _, mem := range m.members {
		if mem.Status == InstanceWorking && mem.taken < mem.corrected {
			return false
		}
	}
	return true
}

// concerned lists the instances that a message is about, of those that are still at work.
func (m *Mind) concerned(msg Message) ([]*Member, error) {
	if msg.Instance != "" {
		mem := m.member(msg.Instance)
		switch {
		case mem == nil:
			return nil, fmt.Errorf("there is no instance %s; add makes new ones", msg.Instance)
		case mem.Status != InstanceWorking:
			return nil, fmt.Errorf("instance %s has %s", msg.Instance, mem.Status)
		}
		return []*Member{mem}, nil
	}
	var list []*Member
	for _, mem := range m.members {
		if mem.Status == InstanceWorking {
			list = append(list, mem)
		}
	}
	return list, nil
}

// admits says how a patch of State does not fit an instance.
func (m *Mind) admits(mem *Member, msg Message) error {
	if msg.Kind != TypeState {
		return nil
	}
	schema := ViewOf(m.idea.Context, mem.Token).Schema[TypeState]
	if msg.Schema != nil {
		schema = msg.Schema
	}
	for _, w := range settings(msg.Payload, nil) {
		if mem.state.blockedAbove(w.Path) {
			return fmt.Errorf("%s: something other than an object stands above it", Reference{TypeState, w.Path})
		}
		if schema == nil || HasHandle(w.Value) {
			continue
		}
		if err := checkPlace(schema, w.Path, w.Value); err != nil {
			return err
		}
	}
	return nil
}

// settings takes a patch apart into what it sets, in the order of the paths.
func settings(patch any, at Path) []Write {
	m, ok := patch.(map[string]any)
	_, stored := AsHandle(patch)
	if !ok || stored || len(m) == 0 && len(at) > 0 {
		return []Write{{Path: at, Value: patch}}
	}
	var list []Write
	for _, k := range sortedKeys(m) {
		list = append(list, settings(m[k], append(at[:len(at):len(at)], k))...)
	}
	return list
}

// With is the Idea with more messages, which were checked before.
func (i *Idea) With(context []any) *Idea {
	messages, err := readAll(context)
	if err != nil || len(messages) == 0 {
		return i
	}
	return i.withMessages(messages)
}

// withMessages is the Idea with more messages.
func (i *Idea) withMessages(messages []Message) *Idea {
	next := *i
	next.Context = append(i.Context[:len(i.Context):len(i.Context)], messages...)
	old, _ := i.Source["context"].([]any)
	context := append([]any(nil), old...)
	for _, m := range messages {
		context = append(context, m.Source)
	}
	next.Source = withoutKey(i.Source, "context")
	next.Source["context"] = context
	return &next
}

// Add takes in more instances, and gives their tokens.
func (m *Mind) Add(s Steering) ([]string, error) {
	messages, err := readAll(s.Context)
	if err != nil {
		return nil, err
	}
	if m.member("") != nil {
		return nil, errors.New("the process has one instance without a name, and takes no others")
	}
	for n, msg := range messages {
		switch {
		case msg.Instance == "":
			return nil, fmt.Errorf("$.context[%d]: it names no new instance", n)
		case m.member(msg.Instance) != nil:
			return nil, fmt.Errorf("$.context[%d]: there is an instance %s already", n, msg.Instance)
		}
	}
	m.idea = m.idea.withMessages(messages)
	m.output, m.hasOutput, m.planOutput, m.outputFault = nil, false, false, nil
	tokens := (&Idea{Context: messages}).Tokens()
	m.join(tokens)
	return tokens, nil
}

// Idea is the process's Idea with every correction so far.
func (m *Mind) Idea() *Idea { return m.idea }

// Revise takes a person's correction into an instance: what it sees beside State, and values of State, which close their
// paths. A value takes the place of what it corrects: whoever would see that sees it.
func (r *Run) Revise(messages []Message, by, reason string) {
	r.context = append(r.context[:len(r.context):len(r.context)], messages...)
	r.look()
	for _, m := range messages {
		if m.Kind != TypeState || m.Payload == nil {
			continue
		}
		for _, w := range settings(m.Payload, nil) {
			r.corrections++
			w.By, w.Reason, w.At, w.Correction = Person(by), reason, r.now, r.corrections
			for _, old := range r.state.Writes() {
				if old.Path.Overlaps(w.Path) {
					w.Request, w.Index = old.Request, old.Index
				}
			}
			r.state.Apply(w)
			r.fresh = append(r.fresh, w)
		}
	}
}

// correctedBy names the person who has set the path of a Call while it ran, or all paths of one of its branches; "" where
// nobody has.
func (r *Run) correctedBy(rec *Record) string {
	if rec.update() {
		return ""
	}
	for _, branch := range rec.OutputPath {
		by := ""
		for _, p := range branch {
			if by = r.corrector(p); by == "" {
				break
			}
		}
		if by != "" {
			return by
		}
	}
	return ""
}

func (r *Run) corrector(p Path) string {
	for _, w := range r.state.Writes() {
		if w.Correction > 0 && w.Path.Overlaps(p) {
			return w.By
		}
	}
	return ""
}
