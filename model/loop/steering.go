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

// ReadSteering reads the payload of a steering signal: id, by and reason; for resume limits; for add context; for revise both.
func ReadSteering(kind string, m map[string]any) (s Steering, err error) {
	own := map[string]any{}
	texts := map[string]any{}
	for _, k := range jsonval.SortedKeys(m) {
		switch {
		case k == "limits" && (kind == SteerResume || kind == SteerRevise), k == "context" && (kind == SteerRevise || kind == SteerAdd):
			own[k] = m[k]
		default:
			texts[k] = m[k]
		}
	}
	if err := turn.ReadSignalTexts(texts, "", map[string]*string{"id": &s.ID, "by": &s.By, "reason": &s.Reason}); err != nil {
		return s, err
	}
	var ps diag.Problems
	s.Limits = ideafile.ReadLimits(ideafile.ReadObject(own, "limits", "$", &ps), "$.limits", &ps)
	if c, ok := own["context"]; ok {
		s.Context, ok = c.([]any)
		if !ok {
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

// Revise applies a correction: messages that come after all others, and limits. It returns the instances to send it to. An error
// says why nothing has changed.
func (l *Loop) Revise(s Steering) (touched []*InstanceProgress, err error) {
	messages, err := ideafile.ReadMessages(s.Context)
	if err != nil {
		return nil, err
	}
	affected, err := l.checkCorrections(messages)
	if err != nil {
		return nil, err
	}
	l.idea = l.idea.WithMessages(messages)
	l.setLimits(s.Limits)
	for _, inst := range l.instances {
		changesView, revised := affected[inst]
		inst.RevisedSinceRequest = inst.RevisedSinceRequest || revised
		if changesView {
			inst.CorrectionsSent++
			touched = append(touched, inst)
		}
	}
	return touched, nil
}

// checkCorrections returns the instances that messages are about, each with whether they change what it sees, or why one of the
// messages cannot be applied. A message without a payload, such as text, is for the LLM alone.
func (l *Loop) checkCorrections(messages []ideafile.Message) (map[*InstanceProgress]bool, error) {
	affected := map[*InstanceProgress]bool{}
	for n, msg := range messages {
		instances, err := l.affectedInstances(msg)
		if err == nil && msg.RunsDirectly() {
			err = errors.New("a Plan that runs directly begins with its instance; without its stage it guides the next Request")
		}
		if err != nil {
			return nil, fmt.Errorf("$.context[%d]: %w", n, err)
		}
		for _, inst := range instances {
			if err := l.checkCorrection(inst, msg); err != nil {
				return nil, fmt.Errorf("$.context[%d]: %w", n, err)
			}
			affected[inst] = affected[inst] || msg.Kind != ""
		}
	}
	return affected, nil
}

// CorrectionsAcked reports whether every instance has acknowledged its corrections.
func (l *Loop) CorrectionsAcked() bool {
	for _, inst := range l.instances {
		if inst.Status == ideafile.InstanceWorking && inst.CorrectionsAcked < inst.CorrectionsSent {
			return false
		}
	}
	return true
}

// affectedInstances lists the instances at work that a message is about.
func (l *Loop) affectedInstances(msg ideafile.Message) ([]*InstanceProgress, error) {
	if msg.Instance != "" {
		inst := l.instance(msg.Instance)
		switch {
		case inst == nil:
			return nil, fmt.Errorf("there is no instance %s; add makes new ones", msg.Instance)
		case inst.Status != ideafile.InstanceWorking:
			return nil, fmt.Errorf("instance %s has %s", msg.Instance, inst.Status)
		}
		return []*InstanceProgress{inst}, nil
	}
	var list []*InstanceProgress
	for _, inst := range l.instances {
		if inst.Status == ideafile.InstanceWorking {
			list = append(list, inst)
		}
	}
	return list, nil
}

// checkCorrection returns why a correction of State does not fit an instance.
func (l *Loop) checkCorrection(inst *InstanceProgress, msg ideafile.Message) error {
	if msg.Kind != ideafile.TypeState {
		return nil
	}
	schema := ideafile.ViewOf(l.idea.Context, inst.Token).Schema[ideafile.TypeState]
	if msg.Schema != nil {
		schema = msg.Schema
	}
	for _, w := range statelog.SplitPatch(msg.Payload, nil) {
		if inst.state.BlockedAbove(w.Path) {
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

// AddInstances adds instances and returns their tokens.
func (l *Loop) AddInstances(s Steering) ([]string, error) {
	messages, err := ideafile.ReadMessages(s.Context)
	if err != nil {
		return nil, err
	}
	if l.instance("") != nil {
		return nil, errors.New("the process has one instance without a name, and takes no others")
	}
	for n, msg := range messages {
		switch {
		case msg.Instance == "":
			return nil, fmt.Errorf("$.context[%d]: it names no new instance", n)
		case l.instance(msg.Instance) != nil:
			return nil, fmt.Errorf("$.context[%d]: there is an instance %s already", n, msg.Instance)
		}
	}
	l.idea = l.idea.WithMessages(messages)
	l.output, l.hasOutput, l.planOutputTried, l.outputFault = nil, false, false, nil
	tokens := (&ideafile.Idea{Context: messages}).InstanceTokens()
	l.joinInstances(tokens)
	return tokens, nil
}
