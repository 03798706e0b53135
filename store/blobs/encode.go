package blobs

import (
	"context"

	"processidea/model/jsonval"
)

// EncodeRestored passes jsonval.Encode of a restored value to emit, piece by piece, and keeps one stored value in
// memory at a time. emit must not retain a piece: its buffer is reused.
func (s *Store) EncodeRestored(ctx context.Context, v any, emit func(data []byte)) error {
	if _, isHandle := jsonval.AsBlobHandle(v); isHandle {
		restoredValue, err := s.Restore(ctx, v)
		if err == nil {
			jsonval.EncodeToPooledBuffer(restoredValue, emit)
		}
		return err
	}
	if !jsonval.ContainsBlobHandle(v) {
		jsonval.EncodeToPooledBuffer(jsonval.UnescapeBlobHandles(v), emit)
		return nil
	}
	if list, ok := v.([]any); ok {
		return s.encodeArray(ctx, list, emit)
	}
	return s.encodeObject(ctx, v.(jsonval.Object), emit)
}

func (s *Store) encodeArray(ctx context.Context, list []any, emit func(data []byte)) error {
	separator := "["
	for _, e := range list {
		emit([]byte(separator))
		if err := s.EncodeRestored(ctx, e, emit); err != nil {
			return err
		}
		separator = ","
	}
	emit([]byte("]"))
	return nil
}

func (s *Store) encodeObject(ctx context.Context, m jsonval.Object, emit func(data []byte)) error {
	separator := "{"
	for k, v := range jsonval.Sorted(m) {
		emit([]byte(separator))
		name := k
		if len(m) == 1 { // the key may be escaped
			unescaped := jsonval.UnescapeBlobHandles(jsonval.Object{k: nil}).(jsonval.Object)
			for name = range unescaped { //nolint:revive // there is one
			}
		}
		jsonval.EncodeToPooledBuffer(name, emit)
		emit([]byte(":"))
		if err := s.EncodeRestored(ctx, v, emit); err != nil {
			return err
		}
		separator = ","
	}
	emit([]byte("}"))
	return nil
}
