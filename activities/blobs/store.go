// Package blobs is the content-addressed store: every value lies under the SHA-256 of its bytes, so that what is the same
// is stored once, and what was changed is found. It stands on gocloud.dev/blob: a folder, or a bucket by URL.
package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	_ "gocloud.dev/blob/memblob"  // mem://, for tests
	"gocloud.dev/gcerrors"
)

// Store keeps bytes by their SHA-256 digest. It is safe for concurrent use.
type Store struct {
	bucket *blob.Bucket
	cache  *lru.Cache[string, []byte]
}

const (
	cacheEntries = 512
	cacheLargest = 256 << 10 // bytes; larger values are read again
)

// Open opens a store: a folder's path, which is made when it is missing, or a bucket's URL (file://, mem://, …).
func Open(ctx context.Context, place string) (*Store, error) {
	address, err := bucketURL(place)
	if err != nil {
		return nil, fmt.Errorf("blobs: open %s: %w", place, err)
	}
	bucket, err := blob.OpenBucket(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("blobs: open %s: %w", place, err)
	}
	cache, err := lru.New[string, []byte](cacheEntries)
	if err != nil {
		return nil, fmt.Errorf("blobs: open %s: %w", place, err)
	}
	return &Store{bucket: bucket, cache: cache}, nil
}

// bucketURL turns a folder into the URL under which gocloud opens it, without the file of attributes that it would put
// beside every value.
func bucketURL(place string) (string, error) {
	if strings.Contains(place, "://") {
		return place, nil
	}
	dir, err := filepath.Abs(place)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(dir), RawQuery: "metadata=skip&no_tmp_dir=true"}
	return u.String(), nil
}

// Close lets go of the store.
func (s *Store) Close() error { return s.bucket.Close() }

// Put stores bytes and gives their digest: SHA-256 in hex.
func (s *Store) Put(ctx context.Context, data []byte) (string, error) {
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	if s.cache.Contains(digest) {
		return digest, nil
	}
	there, err := s.bucket.Exists(ctx, key(digest))
	if err == nil && !there {
		err = s.bucket.WriteAll(ctx, key(digest), data, nil)
	}
	if err != nil {
		return "", fmt.Errorf("blobs: put %s: %w", digest, err)
	}
	s.remember(digest, data)
	return digest, nil
}

// Get reads bytes by their digest, and checks that they are the ones that were put.
func (s *Store) Get(ctx context.Context, digest string) ([]byte, error) {
	if data, ok := s.cache.Get(digest); ok {
		return data, nil
	}
	if len(digest) != 2*sha256.Size {
		return nil, fmt.Errorf("blobs: get %q: not a digest", digest)
	}
	data, err := s.bucket.ReadAll(ctx, key(digest))
	if err != nil {
		return nil, fmt.Errorf("blobs: get %s: %w", digest, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("blobs: get %s: the bytes have changed", digest)
	}
	s.remember(digest, data)
	return data, nil
}

func (s *Store) remember(digest string, data []byte) {
	if len(data) <= cacheLargest {
		s.cache.Add(digest, data)
	}
}

// key spreads values over 256 folders.
func key(digest string) string { return "sha256/" + digest[:2] + "/" + digest }

// Write puts bytes under a name of their own, for what is looked up by name: the Ideas of a process.
func (s *Store) Write(ctx context.Context, name string, data []byte) error {
	if err := s.bucket.WriteAll(ctx, name, data, nil); err != nil {
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
	if err != nil {
		return nil, false, fmt.Errorf("blobs: read %s: %w", name, err)
	}
	return data, true, nil
}
