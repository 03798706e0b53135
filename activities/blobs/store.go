// Package blobs is the content-addressed store: every value is known by the SHA-256 of its bytes, so that what is the same
// is stored once, and what was changed is found. It stands on gocloud.dev/blob: a folder, or a bucket by URL. With keys
// it encrypts what it keeps.
package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"processidea/activities/encryption"
)

// Store keeps bytes by their SHA-256 digest. It is safe for concurrent use.
type Store struct {
	bucket *blob.Bucket
	cache  *lru.Cache[string, cached]
	keys   *encryption.Keys
	noted  atomic.Bool // the bucket says that the primary key is in use
}

// cached is a value, and where it was last seen in the bucket.
type cached struct {
	data []byte
	at   location
}

const (
	cacheEntries = 512
	cacheLargest = 256 << 10 // bytes; larger values are read again
)

// Put stores bytes and gives their digest: SHA-256 in hex.
func (s *Store) Put(ctx context.Context, data []byte) (string, error) {
	return s.put(ctx, data, s.current)
}

func (s *Store) put(ctx context.Context, data []byte, where func(digest string) location) (string, error) {
	digest := digestOf(data)
	at := where(digest)
	if c, ok := s.cache.Get(digest); ok && c.at == at {
		return digest, nil
	}
	if err := s.writeNew(ctx, at, data); err != nil {
		return "", fmt.Errorf("blobs: put %s: %w", digest, err)
	}
	s.remember(data, at)
	return digest, nil
}

func (s *Store) writeNew(ctx context.Context, at location, data []byte) error {
	there, err := s.bucket.Exists(ctx, at.name)
	if err != nil || there {
		return err
	}
	if data, err = s.sealed(ctx, at, data); err != nil {
		return err
	}
	return s.bucket.WriteAll(ctx, at.name, data, nil)
}

// Get reads bytes by their digest, and checks that they are the ones that were put. Where they may have been encrypted
// with a key that is not here the error is an *encryption.MissingKeyError.
func (s *Store) Get(ctx context.Context, digest string) ([]byte, error) {
	return s.get(ctx, digest, s.locations)
}

func (s *Store) get(ctx context.Context, digest string, where func(digest string) []location) ([]byte, error) {
	if c, ok := s.cache.Get(digest); ok {
		return c.data, nil
	}
	if len(digest) != 2*sha256.Size {
		return nil, fmt.Errorf("blobs: get %q: not a digest", digest)
	}
	data, at, err := s.readFirst(ctx, where(digest))
	if err != nil {
		return nil, fmt.Errorf("blobs: get %s: %w", digest, err)
	}
	s.remember(data, at)
	return data, nil
}

// readFirst reads a value from the first place where something lies.
func (s *Store) readFirst(ctx context.Context, places []location) ([]byte, location, error) {
	var last error
	for _, at := range places {
		data, err := s.bucket.ReadAll(ctx, at.name)
		if gcerrors.Code(err) == gcerrors.NotFound {
			last = err
			continue
		}
		if err == nil {
			data, err = s.opened(at, data)
		}
		if err == nil && digestOf(data) != at.digest {
			err = errors.New("the bytes have changed")
		}
		return data, at, err
	}
	return nil, location{}, s.notFound(ctx, last)
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (s *Store) remember(data []byte, at location) {
	if len(data) <= cacheLargest {
		s.cache.Add(at.digest, cached{data, at})
	}
}

// Write puts bytes under a name of their own, for what is looked up by name: the Ideas of a process. The name stays
// readable.
func (s *Store) Write(ctx context.Context, name string, data []byte) error {
	data, err := s.sealNamed(ctx, name, data)
	if err == nil {
		err = s.bucket.WriteAll(ctx, name, data, nil)
	}
	if err != nil {
		return fmt.Errorf("blobs: write %s: %w", name, err)
	}
	return nil
}

// Read reads what Write put under a name; ok is false where there is nothing.
func (s *Store) Read(ctx context.Context, name string) (data []byte, ok bool, err error) {
	data, err = s.bucket.ReadAll(ctx, name)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, false, nil
	}
	if err == nil {
		data, err = s.openNamed(name, data)
	}
	if err != nil {
		return nil, false, fmt.Errorf("blobs: read %s: %w", name, err)
	}
	return data, true, nil
}
