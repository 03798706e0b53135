package turn

import (
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// This file holds how a Request is told of States without carrying them: as what they differ in from those that lie in
// the store already.

// StatesOf gives the State of each instance as a context begins it, by token.
func StatesOf(context []ideafile.Message, tokens []string) map[string]any {
	states := make(map[string]any, len(tokens))
	views := ideafile.ViewsOf(context, tokens)
	for _, token := range tokens {
		states[token] = statelog.New(views[token].Payload[ideafile.TypeState]).Value()
	}
	return states
}

// States gives the State of each instance that the Brief covers, by token.
func (b *RequestInput) States() map[string]any {
	states := make(map[string]any, len(b.Covered))
	for _, c := range b.Covered {
		states[c.Token] = c.State
	}
	return states
}

// Since is the Brief without its States, and what they differ in from known ones, by token. Over puts them back.
func (b *RequestInput) WithoutStates(known map[string]any) (bare *RequestInput, changes map[string]any) {
	next, changes := *b, map[string]any{}
	next.Covered = make([]InstanceInput, len(b.Covered))
	for i, c := range b.Covered {
		if d, changed := jsonval.Delta(known[c.Token], c.State); changed {
			changes[c.Token] = d
		}
		c.State = nil
		next.Covered[i] = c
	}
	return &next, changes
}

// Over puts the States back that Since took away.
func (b *RequestInput) RestoreStates(known, changes map[string]any) error {
	for i, c := range b.Covered {
		state := known[c.Token]
		if d, changed := changes[c.Token]; changed {
			var err error
			if state, err = jsonval.ApplyDelta(state, d); err != nil {
				return fmt.Errorf("model: State of instance %q: %w", c.Token, err)
			}
		}
		b.Covered[i].State = state
	}
	return nil
}
