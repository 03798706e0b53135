// Package blobs is the content-addressed store: every value lies under the SHA-256 of its bytes, so that what is the same
// is stored once, and what was changed is found. It stands on gocloud.dev/blob: a folder, or a bucket by URL.
package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	_ "gocloud.dev/blob/memblob"  // mem://, for tests
	"gocloud.dev/gcerrors"
)

// Store keeps bytes by their SHA-256 digest. It is safe for concurrent use.
type Store struct {
	bucket *blob.Bucket
	cache  *lru.Cache[string, remembered]
}

// remembered is a value in memory, and when it was last made sure that the store has it.
type remembered struct {
	data []byte
	sure time.Time
}

const (
	cacheEntries = 512
	cacheLargest = 256 << 10 // bytes; larger values are read again
)

// Freshness bounds how old a value may look that was put just now: one that has been there for longer is written again.
// So whoever removes values that are older, and that nobody refers to, takes nothing from under somebody's hands.
const Freshness = time.Hour

// What is wrong with a value that cannot be had, other than that the store does not answer.
var (
	ErrMissing = errors.New("the store has no such value")
	ErrChanged = errors.New("the bytes have changed")
	ErrUnfit   = errors.New("the stored value is not what its handle says")
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
	cache, err := lru.New[string, remembered](cacheEntries)
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
	if known, ok := s.cache.Get(digest); ok && time.Since(known.sure) < Freshness/2 {
		return digest, nil
	}
	fresh, err := s.fresh(ctx, key(digest))
	if err == nil && !fresh {
		err = s.bucket.WriteAll(ctx, key(digest), data, nil)
	}
	if err != nil {
		return "", fmt.Errorf("blobs: put %s: %w", digest, err)
	}
	s.remember(digest, remembered{data, time.Now()})
	return digest, nil
}

// fresh says whether something of the name is there and was written lately.
func (s *Store) fresh(ctx context.Context, name string) (bool, error) {
	a, err := s.bucket.Attributes(ctx, name)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return false, nil
	}
	return err == nil && time.Since(a.ModTime) < Freshness/2, err
}

// Get reads bytes by their digest, and checks that they are the ones that were put.
func (s *Store) Get(ctx context.Context, digest string) ([]byte, error) {
	if known, ok := s.cache.Get(digest); ok {
		return known.data, nil
	}
	data, err := s.Check(ctx, digest)
	if err == nil {
		s.remember(digest, remembered{data: data})
	}
	return data, err
}

// Check is Get that reads the store itself, whatever is remembered. The error wraps ErrMissing or ErrChanged where the
// value is lost.
func (s *Store) Check(ctx context.Context, digest string) ([]byte, error) {
	if !IsDigest(digest) {
		return nil, fmt.Errorf("blobs: get %q: not a digest", digest)
	}
	data, err := s.bucket.ReadAll(ctx, key(digest))
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, fmt.Errorf("blobs: get %s: %w", digest, ErrMissing)
	}
	if err != nil {
		return nil, fmt.Errorf("blobs: get %s: %w", digest, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("blobs: get %s: %w", digest, ErrChanged)
	}
	return data, nil
}

// IsDigest says whether a text has the form of a digest: SHA-256 in hex, small letters.
func IsDigest(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

func (s *Store) remember(digest string, r remembered) {
	if len(r.data) <= cacheLargest {
		s.cache.Add(digest, r)
	}
}

// Folder is where the values lie.
const Folder = "sha256/"

// key spreads values over 256 folders.
func key(digest string) string { return Folder + digest[:2] + "/" + digest }

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
