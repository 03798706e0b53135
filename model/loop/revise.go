package loop

import (
	"errors"
	"fmt"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
	"processidea/model/turn"
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
	Limits ideafile.Limits
	// Context is the messages of revise and add, as written.
	Context []any
}

// ReadSteering reads the payload of a steering signal: id, by and reason, for resume limits, for add context, for revise
// context and limits.
func ReadSteering(kind string, m map[string]any) (s Steering, err error) {
	own := map[string]any{}
	texts := map[string]any{}
	for _, k := range jsonval.SortedKeys(m) {
		if k == "limits" && (kind == SteerResume || kind == SteerRevise) || k == "context" && (kind == SteerRevise || kind == SteerAdd) {
			own[k] = m[k]
		} else {
			texts[k] = m[k]
		}
	}
	if err := turn.ReadSignalTexts(texts, "", map[string]*string{"id": &s.ID, "by": &s.By, "reason": &s.Reason}); err != nil {
		return s, err
	}
	var ps diag.Problems
	s.Limits = ideafile.ReadLimits(ideafile.ReadObject(own, "limits", "$", &ps), "$.limits", &ps)
	if c, ok := own["context"]; ok {
		if s.Context, ok = c.([]any); !ok {
			ps.Add("$.context", "want a list of messages, not %s", jsonval.TypeOf(c))
		}
	}
	for n, raw := range s.Context {
		if ideafile.IsMarkedSimulated(raw) {
			ps.Add(fmt.Sprintf("$.context[%d]", n), "it is marked as simulated: nothing in it is real")
		}
	}
	switch {
	case len(ps) > 0:
		return s, ps
	case kind == SteerAdd && len(s.Context) == 0, kind == SteerRevise && len(s.Context) == 0 && s.Limits == ideafile.Limits{}:
		return s, fmt.Errorf("it says nothing: %q is missing", "context")
	}
	return s, nil
}

// Revise takes a correction: messages that come after all others, and limits. It gives the instances that must be told,
// or says why nothing has changed.
func (m *Loop) Revise(s Steering) (touched []*InstanceProgress, err error) {
	messages, err := ideafile.ReadMessages(s.Context)
	if err != nil {
		return nil, err
	}
	concerned := map[*InstanceProgress]bool{}
	for n, msg := range messages {
		members, err := m.concerned(msg)
		if err == nil && msg.RunsDirectly() {
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
	m.idea = m.idea.WithMessages(messages)
	m.setLimits(s.Limits)
	for _, mem := range m.members {
		told, about := concerned[mem]
		mem.revisedSinceRequest = mem.revisedSinceRequest || about
		if told {
			mem.correctionsSent++
			touched = append(touched, mem)
		}
	}
	return touched, nil
}

// CorrectionsAcked says whether every instance has taken in what was revised.
func (m *Loop) CorrectionsAcked() bool {
	for _, mem := range m.members {
		if mem.Status == ideafile.InstanceWorking && mem.correctionsAcked < mem.correctionsSent {
			return false
		}
	}
	return true
}

// concerned lists the instances that a message is about, of those that are still at work.
func (m *Loop) concerned(msg ideafile.Message) ([]*InstanceProgress, error) {
	if msg.Instance != "" {
		mem := m.member(msg.Instance)
		switch {
		case mem == nil:
			return nil, fmt.Errorf("there is no instance %s; add makes new ones", msg.Instance)
		case mem.Status != ideafile.InstanceWorking:
			return nil, fmt.Errorf("instance %s has %s", msg.Instance, mem.Status)
		}
		return []*InstanceProgress{mem}, nil
	}
	var list []*InstanceProgress
	for _, mem := range m.members {
		if mem.Status == ideafile.InstanceWorking {
			list = append(list, mem)
		}
	}
	return list, nil
}

// admits says how a patch of State does not fit an instance.
func (m *Loop) admits(mem *InstanceProgress, msg ideafile.Message) error {
	if msg.Kind != ideafile.TypeState {
		return nil
	}
	schema := ideafile.ViewOf(m.idea.Context, mem.Token).Schema[ideafile.TypeState]
	if msg.Schema != nil {
		schema = msg.Schema
	}
	for _, w := range statelog.SplitPatch(msg.Payload, nil) {
		if mem.state.BlockedAbove(w.Path) {
			return fmt.Errorf("%s: something other than an object stands above it", refexpr.Reference{Kind: ideafile.TypeState, Path: w.Path})
		}
		if schema == nil || jsonval.HasHandle(w.Value) {
			continue
		}
		if err := statelog.CheckPlace(schema, w.Path, w.Value); err != nil {
			return err
		}
	}
	return nil
}

// AddInstances takes in more instances, and gives their tokens.
func (m *Loop) AddInstances(s Steering) ([]string, error) {
	messages, err := ideafile.ReadMessages(s.Context)
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
	m.idea = m.idea.WithMessages(messages)
	m.output, m.hasOutput, m.planOutput, m.outputFault = nil, false, false, nil
	tokens := (&ideafile.Idea{Context: messages}).Tokens()
	m.join(tokens)
	return tokens, nil
}

// Idea is the process's Idea with every correction so far.
func (m *Loop) Idea() *ideafile.Idea { return m.idea }
