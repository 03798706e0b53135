package turn

import (
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// A RequestInput may travel without its States if the store already has an older form of these: only the deltas travel
// with it. The functions of this file take the States out and put them back.

// InitialStates returns the State with which a context starts each instance, by token.
func InitialStates(context ideafile.ContextByInstance, tokens []string) jsonval.Object {
	states := make(jsonval.Object, len(tokens))
	for _, token := range tokens {
		states[token] = statelog.NewState(context.InstanceView(token).PayloadByKind[ideafile.TypeState]).Snapshot()
	}
	return states
}

// States returns the State of each covered instance, by token.
func (in *RequestInput) States() jsonval.Object {
	states := make(jsonval.Object, len(in.Instances))
	for _, instance := range in.Instances {
		states[instance.Token] = instance.State
	}
	return states
}

// WithoutStates returns a copy without States, and the delta of each State that differs from the known one, by token.
// RestoreStates is its inverse.
func (in *RequestInput) WithoutStates(knownStates jsonval.Object) (stateless *RequestInput, deltas jsonval.Object) {
	next, deltas := *in, jsonval.Object{}
	next.Instances = make([]InstanceInput, len(in.Instances))
	for n, instance := range in.Instances {
		d, hasChanged := jsonval.ComputeDelta(knownStates[instance.Token], instance.State)
		if hasChanged {
			deltas[instance.Token] = d
		}
		instance.State = nil
		next.Instances[n] = instance
	}
	return &next, deltas
}

// RestoreStates sets each State to the one in knownStates with its delta applied. knownStates must be as it was for
// WithoutStates.
func (in *RequestInput) RestoreStates(knownStates, deltas jsonval.Object) error {
	for n, instance := range in.Instances {
		state := knownStates[instance.Token]
		if d, hasDelta := deltas[instance.Token]; hasDelta {
			restoredState, err := jsonval.ApplyDelta(state, d)
			if err != nil {
				return fmt.Errorf("turn: restore State of instance %q: %w", instance.Token, err)
			}
			state = restoredState
		}
		in.Instances[n].State = state
	}
	return nil
}

// ExtractStates removes the States in place and returns each as its delta from nothing, by token.
func (in *RequestInput) ExtractStates() jsonval.Object {
	stateless, deltas := in.WithoutStates(nil)
	*in = *stateless
	return deltas
}
