package blobs

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Offload makes a value from outside fit for State: it stores every part that is larger than jsonval.LargeValueBytes
// and puts a handle in its place. It escapes a value that merely looks like a handle.
func (s *Store) Offload(ctx context.Context, v any) (any, error) {
	return s.offload(ctx, jsonval.EscapeBlobHandles(v))
}

// OffloadMembers is Offload for an object that must stay an object, such as a whole State: only its members are
// offloaded.
func (s *Store) OffloadMembers(ctx context.Context, v any) (any, error) {
	m, ok := v.(jsonval.Object)
	if !ok {
		return s.Offload(ctx, v)
	}
	return mapMembers(ctx, m, s.Offload)
}

// mapMembers applies do to every member of an object, and returns the resulting object.
func mapMembers(ctx context.Context, m jsonval.Object,
	transform func(context.Context, any) (any, error)) (any, error) {
	mapped := make(jsonval.Object, len(m))
	for k, e := range m {
		x, err := transform(ctx, e)
		if err != nil {
			return nil, err
		}
		mapped[k] = x
	}
	return mapped, nil
}

// OffloadTools stores the Tools of an Idea, and returns what replaces them.
func (s *Store) OffloadTools(ctx context.Context, tools jsonval.Object) (jsonval.Object, error) {
	h, err := s.PutJSONObject(ctx, tools)
	if err != nil {
		return nil, err
	}
	return ideafile.NewStoredPalette(h, tools), nil
}

// PutJSONObject stores an object unchanged, including the handles in it, and returns its handle.
func (s *Store) PutJSONObject(ctx context.Context, object jsonval.Object) (h jsonval.BlobHandle, err error) {
	data := jsonval.Encode(object)
	h = jsonval.BlobHandle{Size: len(data), ValueType: "object"}
	h.Digest, err = s.Put(ctx, data)
	return h, err
}

// offload offloads the members of an object before the object as a whole: a small member beside a large one stays where
// References can reach it.
func (s *Store) offload(ctx context.Context, v any) (any, error) {
	data := jsonval.Encode(v)
	if len(data) <= jsonval.LargeValueBytes {
		return v, nil
	}
	if m, ok := v.(jsonval.Object); ok {
		var err error
		if v, err = mapMembers(ctx, m, s.offload); err != nil {
			return nil, err
		}
		data = jsonval.Encode(v)
		if len(data) <= jsonval.LargeValueBytes {
			return v, nil
		}
	}
	digest, err := s.Put(ctx, data)
	if err != nil {
		return nil, err
	}
	return jsonval.BlobHandle{Digest: digest, Size: len(data), ValueType: jsonval.TypeOf(v)}.AsJSONValue(), nil
}

// Restore is the inverse of Offload: it puts stored values in the places of their handles and undoes the escaping.
func (s *Store) Restore(ctx context.Context, v any) (any, error) {
	return s.RestoreWithin(ctx, v, math.MaxInt)
}

// RestoreWithin is Restore with a limit for the restored value, in bytes of JSON. The error wraps ErrTooLarge if the
// value exceeds it, and is returned before more than the limit is read.
func (s *Store) RestoreWithin(ctx context.Context, v any, maxBytes int) (any, error) {
	r := restorer{store: s, remainingBytes: maxBytes}
	restoredValue, err := r.restore(ctx, v)
	if err != nil {
		return nil, err
	}
	return jsonval.UnescapeBlobHandles(restoredValue), nil
}

// restorer replaces handles by stored values.
type restorer struct {
	store          *Store
	remainingBytes int // bytes that values may still take
}

func (r *restorer) reserveBytes(size int) error {
	r.remainingBytes -= size
	if r.remainingBytes < 0 {
		return fmt.Errorf("blobs: restore: %w", ErrTooLarge)
	}
	return nil
}

func (r *restorer) restore(ctx context.Context, v any) (any, error) {
	if h, ok := jsonval.AsBlobHandle(v); ok {
		return r.load(ctx, h)
	}
	switch v := v.(type) {
	case jsonval.Object:
		return mapMembers(ctx, v, r.restore)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			x, err := r.restore(ctx, e)
			if err != nil {
				return nil, err
			}
			out[i] = x
		}
		return out, nil
	}
	return v, nil
}

// load reads one stored value, restores the handles in it, and follows the handle's path into it.
func (r *restorer) load(ctx context.Context, h jsonval.BlobHandle) (any, error) {
	if h.PathInValue == "" {
		if err := r.reserveBytes(h.Size); err != nil {
			return nil, err
		}
	}
	data, err := r.store.Get(ctx, h.Digest)
	if err != nil {
		return nil, err
	}
	v, err := jsonval.Decode(data)
	path, pathErr := jsonval.ParsePath(h.PathInValue)
	if err = cmp.Or(err, pathErr); err != nil {
		return nil, fmt.Errorf("blobs: restore %s: %w: %w", h.Digest, ErrMismatch, err)
	}
	v, err = r.restore(ctx, v)
	if err != nil {
		return nil, err
	}
	valueAtPath, ok := jsonval.ValueAt(v, path)
	if !ok {
		return nil, fmt.Errorf("blobs: restore %s: %w: nothing at %s", h.Digest, ErrMismatch, h.PathInValue)
	}
	if h.PathInValue != "" && r.remainingBytes < math.MaxInt {
		err = r.reserveBytes(jsonval.SizeUpToLimit(valueAtPath, r.remainingBytes))
	}
	return valueAtPath, err
}

// GetOrNil returns the bytes of the stored value that a handle refers to, or into, for display; nil if it cannot be
// read.
func (s *Store) GetOrNil(ctx context.Context, h jsonval.BlobHandle) []byte {
	data, err := s.Get(ctx, h.Digest)
	if err != nil {
		return nil
	}
	return data
}
