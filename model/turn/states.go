package turn

import (
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// This file holds how a Request is told of States without carrying them: as what they differ in from those that lie in
// the store already.

// InitialStates gives the State of each instance as a context begins it, by token.
func InitialStates(context []ideafile.Message, tokens []string) map[string]any {
	states := make(map[string]any, len(tokens))
	views := ideafile.ViewsOf(context, tokens)
	for _, token := range tokens {
		states[token] = statelog.New(views[token].Payload[ideafile.TypeState]).Value()
	}
	return states
}

// States gives the State of each instance that the Brief covers, by token.
func (in *RequestInput) States() map[string]any {
	states := make(map[string]any, len(in.Instances))
	for _, c := range in.Instances {
		states[c.Token] = c.State
	}
	return states
}

// Since is the Brief without its States, and what they differ in from known ones, by token. Over puts them back.
func (in *RequestInput) WithoutStates(known map[string]any) (stateless *RequestInput, changes map[string]any) {
	next, changes := *in, map[string]any{}
	next.Instances = make([]InstanceInput, len(in.Instances))
	for i, c := range in.Instances {
		if d, changed := jsonval.Delta(known[c.Token], c.State); changed {
			changes[c.Token] = d
		}
		c.State = nil
		next.Instances[i] = c
	}
	return &next, changes
}

// Over puts the States back that Since took away.
func (in *RequestInput) RestoreStates(known, changes map[string]any) error {
	for i, c := range in.Instances {
		state := known[c.Token]
		if d, changed := changes[c.Token]; changed {
			var err error
			if state, err = jsonval.ApplyDelta(state, d); err != nil {
				return fmt.Errorf("model: State of instance %q: %w", c.Token, err)
			}
		}
		in.Instances[i].State = state
	}
	return nil
}
