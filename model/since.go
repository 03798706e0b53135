package model

import "fmt"

// This file holds how a Request is told of States without carrying them: as what they differ in from those that lie in
// the store already.

// StatesOf gives the State of each instance as a context begins it, by token.
func StatesOf(context []Message, tokens []string) map[string]any {
	states := make(map[string]any, len(tokens))
	views := viewsOf(context, tokens)
	for _, token := range tokens {
		states[token] = NewState(views[token].Payload[TypeState]).Value()
	}
	return states
}

// States gives the State of each instance that the Brief covers, by token.
func (b *Brief) States() map[string]any {
	states := make(map[string]any, len(b.Covered))
	for _, c := range b.Covered {
		states[c.Token] = c.State
	}
	return states
}

// Since is the Brief without its States, and what they differ in from known ones, by token. Over puts them back.
func (b *Brief) Since(known map[string]any) (bare *Brief, changes map[string]any) {
	next, changes := *b, map[string]any{}
	next.Covered = make([]Covered, len(b.Covered))
	for i, c := range b.Covered {
		if d, changed := Delta(known[c.Token], c.State); changed {
			changes[c.Token] = d
		}
		c.State = nil
		next.Covered[i] = c
	}
	return &next, changes
}

// Over puts the States back that Since took away.
func (b *Brief) Over(known, changes map[string]any) error {
	for i, c := range b.Covered {
		state := known[c.Token]
		if d, changed := changes[c.Token]; changed {
			var err error
			if state, err = Advance(state, d); err != nil {
				return fmt.Errorf("model: State of instance %q: %w", c.Token, err)
			}
		}
		b.Covered[i].State = state
	}
	return nil
}
