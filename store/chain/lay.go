package chain

import (
	"context"
	"fmt"

	"processidea/model/jsonval"
)

// lay stores an Idea: as what it differs in from one before it, or whole where it has none, or where reading the deltas
// would take longer than reading it.
func (s *Store) lay(ctx context.Context, d draft, at int, digest string, parent *state, size int) (*manifest, *state, error) {
	m := &manifest{Format: format, Digest: digest, Meta: d.meta, Counts: d.counts(), Since: at}
	st := &state{at: at, digest: digest, since: at}
	node, err := s.layBody(ctx, d.body, m, st, parent, size)
	if err != nil {
		return nil, nil, err
	}
	m.Body = node
	if d.log != nil {
		m.Log, err = s.leaf(ctx, d.log, ownInline)
	}
	return m, st, err
}

func (s *Store) layBody(ctx context.Context, body map[string]any, m *manifest, st, parent *state, size int) (any, error) {
	under := baseFor(st.at, parent)
	if under != nil {
		delta, _ := jsonval.Delta(under.body, body)
		data := jsonval.Encode(delta)
		if under.bytes+len(data) <= size {
			m.On, m.Since, m.Steps, m.Bytes = under.at, under.since, under.steps+1, under.bytes+len(data)
			st.under, st.since, st.steps, st.bytes, st.whole = under, m.Since, m.Steps, m.Bytes, under.whole
			return s.layDelta(ctx, data, st)
		}
	}
	data := jsonval.Encode(body)
	st.whole = len(data)
	var err error
	if st.body, err = ownCopy(data); err != nil {
		return nil, err
	}
	return s.wholeBody(ctx, st.body)
}

// baseFor gives the Idea to store one against; nil where it is to be stored whole.
func baseFor(at int, parent *state) *state {
	if parent == nil || at-parent.since >= longest {
		return nil
	}
	return parent.find(parent.since + baseOf(at-parent.since))
}

// layDelta stores a delta, and makes the state anew from its bytes: what is remembered is what will be read.
func (s *Store) layDelta(ctx context.Context, data []byte, st *state) (any, error) {
	delta, err := ownCopy(data)
	if err != nil {
		return nil, err
	}
	body, err := jsonval.ApplyDelta(st.under.body, delta)
	if err != nil {
		return nil, err
	}
	st.body = body.(map[string]any) // a delta of an object leads to an object
	return s.leaf(ctx, delta, ownInline)
}

// ownCopy decodes bytes, so that what is kept shares nothing with what a caller holds.
func ownCopy(data []byte) (map[string]any, error) {
	v, err := decode(data)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("want an object, not %s", jsonval.TypeOf(v))
	}
	return m, nil
}
