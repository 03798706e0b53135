package blobs

import (
	"context"

	"processidea/model/jsonval"
)

// EncodeRestored passes jsonval.Encode of a restored value to give, piece by piece, and keeps one stored value in
// memory at a time. give must not retain a piece: its buffer is reused.
func (s *Store) EncodeRestored(ctx context.Context, v any, give func(data []byte)) error {
	if _, stored := jsonval.AsBlobHandle(v); stored {
		whole, err := s.Restore(ctx, v)
		if err == nil {
			jsonval.EncodeToPooledBuffer(whole, give)
		}
		return err
	}
	if !jsonval.ContainsBlobHandle(v) {
		jsonval.EncodeToPooledBuffer(jsonval.UnescapeBlobHandles(v), give)
		return nil
	}
	if list, ok := v.([]any); ok {
		return s.encodeArray(ctx, list, give)
	}
	return s.encodeObject(ctx, v.(jsonval.Object), give)
}

func (s *Store) encodeArray(ctx context.Context, list []any, give func(data []byte)) error {
	separator := "["
	for _, e := range list {
		give([]byte(separator))
		if err := s.EncodeRestored(ctx, e, give); err != nil {
			return err
		}
		separator = ","
	}
	give([]byte("]"))
	return nil
}

func (s *Store) encodeObject(ctx context.Context, m jsonval.Object, give func(data []byte)) error {
	separator := "{"
	for k, v := range jsonval.Sorted(m) {
		give([]byte(separator))
		name := k
		if len(m) == 1 { // the key may be escaped
			one := jsonval.UnescapeBlobHandles(jsonval.Object{k: nil}).(jsonval.Object)
			for name = range one { //nolint:revive // there is one
			}
		}
		jsonval.EncodeToPooledBuffer(name, give)
		give([]byte(":"))
		if err := s.EncodeRestored(ctx, v, give); err != nil {
			return err
		}
		separator = ","
	}
	give([]byte("}"))
	return nil
}
