package blobs

import (
	"context"
	"fmt"

	"processidea/model/jsonval"
)

// Offload makes a value from outside fit for State: it stores every part that is larger than jsonval.LargeValue and puts a
// handle in its place. A value that merely looks like a handle is escaped.
func (s *Store) Offload(ctx context.Context, v any) (any, error) {
	return s.offload(ctx, jsonval.Escape(v))
}

// OffloadMembers is Offload for an object that must stay one, such as a whole State: its members alone are offloaded.
func (s *Store) OffloadMembers(ctx context.Context, v any) (any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return s.Offload(ctx, v)
	}
	out := make(map[string]any, len(m))
	for k, e := range m {
		x, err := s.Offload(ctx, e)
		if err != nil {
			return nil, err
		}
		out[k] = x
	}
	return out, nil
}

// offload looks into objects before it offloads them whole: a small member beside a large one stays where References can
// reach it.
func (s *Store) offload(ctx context.Context, v any) (any, error) {
	data := jsonval.Encode(v)
	if len(data) <= jsonval.LargeValue {
		return v, nil
	}
	if m, ok := v.(map[string]any); ok {
		out := make(map[string]any, len(m))
		for k, e := range m {
			x, err := s.offload(ctx, e)
			if err != nil {
				return nil, err
			}
			out[k] = x
		}
		v, data = out, jsonval.Encode(out)
		if len(data) <= jsonval.LargeValue {
			return v, nil
		}
	}
	digest, err := s.Put(ctx, data)
	if err != nil {
		return nil, err
	}
	return jsonval.Handle{Digest: digest, Size: len(data), Type: jsonval.TypeOf(v)}.Value(), nil
}

// Restore is the inverse of Offload: it puts stored values in the places of their handles and undoes the escaping.
func (s *Store) Restore(ctx context.Context, v any) (any, error) {
	whole, err := s.restore(ctx, v)
	if err != nil {
		return nil, err
	}
	return jsonval.Unescape(whole), nil
}

func (s *Store) restore(ctx context.Context, v any) (any, error) {
	if h, ok := jsonval.AsHandle(v); ok {
		return s.load(ctx, h)
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			x, err := s.restore(ctx, e)
			if err != nil {
				return nil, err
			}
			out[k] = x
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			x, err := s.restore(ctx, e)
			if err != nil {
				return nil, err
			}
			out[i] = x
		}
		return out, nil
	}
	return v, nil
}

// load reads one stored value, which may hold handles of its own, and follows the path into it.
func (s *Store) load(ctx context.Context, h jsonval.Handle) (any, error) {
	data, err := s.Get(ctx, h.Digest)
	if err != nil {
		return nil, err
	}
	v, err := jsonval.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("blobs: restore %s: %w: %w", h.Digest, ErrUnfit, err)
	}
	v, err = s.restore(ctx, v)
	if err != nil {
		return nil, err
	}
	path, err := jsonval.ParsePath(h.Path)
	if err != nil {
		return nil, fmt.Errorf("blobs: restore %s: %w: %w", h.Digest, ErrUnfit, err)
	}
	at, ok := jsonval.Lookup(v, path)
	if !ok {
		return nil, fmt.Errorf("blobs: restore %s: %w: nothing at %s", h.Digest, ErrUnfit, h.Path)
	}
	return at, nil
}

// previewRunes is how much of a large value the LLM is shown.
const previewRunes = 200

// Preview gives the beginning of a stored value, for people and LLMs.
func (s *Store) Preview(ctx context.Context, h jsonval.Handle) string {
	data, err := s.Get(ctx, h.Digest)
	if err != nil {
		return ""
	}
	if len(data) > 4*previewRunes {
		data = data[:4*previewRunes]
	}
	r := []rune(string(data))
	if len(r) > previewRunes {
		r = r[:previewRunes]
	}
	return string(r)
}
