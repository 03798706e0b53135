package chain

import (
	"context"
	"errors"
	"fmt"

	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Load gives an Idea of a process whole, with its digest: a file from which a process can start. The error wraps
// ErrNoIdea where the chain has none of the number, and names the part where one is missing or broken.
func (s *Store) Load(ctx context.Context, process string, at int) (map[string]any, error) {
	m, err := s.manifest(ctx, process, at)
	var whole map[string]any
	if err == nil {
		whole, _, err = s.load(ctx, m, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("chain: load Idea %d of %s: %w", at, process, err)
	}
	return whole, nil
}

// load gives the whole Idea of a manifest, once it has the digest that the manifest says.
func (s *Store) load(ctx context.Context, m *manifest, known *state) (map[string]any, *state, error) {
	st, err := s.state(ctx, m, known)
	if err != nil {
		return nil, nil, err
	}
	whole, err := wholeIdea(ctx, s.values, m.Meta, st.body)
	if err != nil {
		return nil, st, err
	}
	if digestOf(jsonval.Encode(whole)) != m.Digest {
		return nil, st, brokenf(Place(m.text("process"), st.at), "what it leads to has another digest")
	}
	return sealed(whole, m.Digest), st, nil
}

// sealed puts the digest into an Idea's meta.
func sealed(whole map[string]any, digest string) map[string]any {
	meta, _ := whole["meta"].(map[string]any)
	meta["digest"] = digest
	return whole
}

// log reads what an Idea's log says, after checking that it is the one that the Idea names.
func (s *Store) log(ctx context.Context, m *manifest) ([]turn.LogEntry, error) {
	v, err := s.logValue(ctx, m)
	if err != nil || v == nil {
		return nil, err
	}
	log, err := turn.DecodeLog(v)
	if err != nil {
		return nil, brokenf(Place(m.text("process"), m.number("at")), "%w", err)
	}
	return log, nil
}

// logValue gives the log as it is hashed; nil where there is none.
func (s *Store) logValue(ctx context.Context, m *manifest) (any, error) {
	process, at := m.text("process"), m.number("at")
	digest := m.text("log")
	if m.Log == nil && digest == "" {
		return nil, nil
	}
	v, err := s.unpack(ctx, m.Log)
	if err == nil && digestOf(jsonval.Encode(v)) != digest {
		err = errors.New("the log is not the one that meta.log names")
	}
	if err != nil {
		return nil, inManifest(process, at, err)
	}
	return v, nil
}
