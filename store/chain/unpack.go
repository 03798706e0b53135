package chain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// unpack gives the value that a node stands for.
func (s *Store) unpack(ctx context.Context, node any) (any, error) {
	m, _ := node.(map[string]any)
	if v, ok := m[nodeValue]; ok && len(m) == 1 {
		return v, nil
	}
	if digest, ok := m[nodePart].(string); ok && len(m) == 1 {
		return s.part(ctx, digest)
	}
	if each, ok := m[nodeEach].(map[string]any); ok && len(m) == 1 {
		out := make(map[string]any, len(each))
		for k, n := range each {
			v, err := s.unpack(ctx, n)
			if err != nil {
				return nil, err
			}
			out[k] = v
		}
		return out, nil
	}
	if runs, ok := m[nodeRuns].([]any); ok && len(m) == 1 {
		return s.unpackRuns(ctx, runs)
	}
	return nil, fmt.Errorf("%s stands for no value", jsonval.Clip(string(jsonval.Encode(node)), 80))
}

func (s *Store) unpackRuns(ctx context.Context, runs []any) (any, error) {
	out := []any{}
	for _, n := range runs {
		v, err := s.unpack(ctx, n)
		if err != nil {
			return nil, err
		}
		run, ok := v.([]any)
		if !ok {
			return nil, fmt.Errorf("a run of Messages is a list, not %s", jsonval.TypeOf(v))
		}
		out = append(out, run...)
	}
	return out, nil
}

// part reads a part of its own.
func (s *Store) part(ctx context.Context, digest string) (any, error) {
	data, err := s.values.Get(ctx, digest)
	if err != nil {
		return nil, s.partError(digest, err)
	}
	v, err := decode(data)
	if err != nil {
		return nil, &broken{s.values.Name(digest), err}
	}
	return v, nil
}

// partError names the part that is lost.
func (s *Store) partError(digest string, err error) error {
	if lost(err) || !blobs.IsDigest(digest) {
		return &broken{s.values.Name(digest), err}
	}
	return err
}

// decode reads JSON that this package wrote: numbers as they were written, and no bound on its depth, as a delta lies
// deeper than what it is a delta of.
func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	return v, nil
}
