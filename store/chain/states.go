package chain

import (
	"context"
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/statelog"
	"processidea/protocol"
)

// States gives the State of every instance of an Idea, by token, with handles in place of large values.
func (s *Store) States(ctx context.Context, process string, at protocol.Sealed) (map[string]any, error) {
	st, err := s.bodyOf(ctx, process, at)
	if err != nil {
		return nil, fmt.Errorf("chain: read the States of Idea %d of %s: %w", at.At, process, err)
	}
	owners := ideafile.SplitContext(st.body["context"])
	states := make(map[string]any, len(owners.Tokens))
	for _, token := range owners.Tokens {
		states[token] = statelog.New(owners.View(token).Payload[ideafile.TypeState]).Value()
	}
	return states, nil
}

// bodyOf reads an Idea, or remembers it.
func (s *Store) bodyOf(ctx context.Context, process string, at protocol.Sealed) (*state, error) {
	if st := s.tips.of(process, at.Digest); st != nil {
		return st, nil
	}
	m, err := s.manifest(ctx, process, at.At)
	if err != nil {
		return nil, err
	}
	if m.Digest != at.Digest {
		return nil, brokenf(Place(process, at.At), "it is another Idea than %s", at.Digest)
	}
	st, err := s.state(ctx, m, nil)
	if err == nil {
		s.tips.keep(process, st)
	}
	return st, err
}
