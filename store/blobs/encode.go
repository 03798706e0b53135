package blobs

import (
	"context"
	"io"

	"processidea/model/jsonval"
)

// EncodeWhole writes jsonval.Encode of what Restore makes of a value, and holds one stored value at a time.
func (s *Store) EncodeWhole(ctx context.Context, v any, to io.Writer) error {
	if _, stored := jsonval.AsBlobHandle(v); stored {
		whole, err := s.Restore(ctx, v)
		if err != nil {
			return err
		}
		return writeJSON(to, whole)
	}
	if !jsonval.ContainsBlobHandle(v) {
		return writeJSON(to, jsonval.UnescapeBlobHandles(v))
	}
	if list, ok := v.([]any); ok {
		return s.encodeArray(ctx, list, to)
	}
	return s.encodeObject(ctx, v.(map[string]any), to)
}

func writeJSON(to io.Writer, v any) (err error) {
	jsonval.EncodeToPooledBuffer(v, func(data []byte) { _, err = to.Write(data) })
	return err
}

func (s *Store) encodeArray(ctx context.Context, list []any, to io.Writer) error {
	separator := "["
	for _, e := range list {
		if _, err := io.WriteString(to, separator); err != nil {
			return err
		}
		if err := s.EncodeWhole(ctx, e, to); err != nil {
			return err
		}
		separator = ","
	}
	_, err := io.WriteString(to, "]")
	return err
}

func (s *Store) encodeObject(ctx context.Context, m map[string]any, to io.Writer) error {
	separator := "{"
	for _, k := range jsonval.SortedKeys(m) {
		if _, err := io.WriteString(to, separator); err != nil {
			return err
		}
		name := k
		if len(m) == 1 { // it may be escaped
			one := jsonval.UnescapeBlobHandles(map[string]any{k: nil}).(map[string]any)
			for name = range one { //nolint:revive // there is one
			}
		}
		if err := writeJSON(to, name); err != nil {
			return err
		}
		if _, err := io.WriteString(to, ":"); err != nil {
			return err
		}
		if err := s.EncodeWhole(ctx, m[k], to); err != nil {
			return err
		}
		separator = ","
	}
	_, err := io.WriteString(to, "}")
	return err
}
