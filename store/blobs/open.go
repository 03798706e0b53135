package blobs

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	_ "gocloud.dev/blob/memblob"  // mem://, for tests

	"processidea/store/encryption"
)

// Option changes how a store is opened.
type Option func(*Store)

// WithKeys encrypts all that is written with the first of the keys, and reads what any of them encrypted, and what was
// written without. Nil keys encrypt nothing.
func WithKeys(k *encryption.Keys) Option { return func(s *Store) { s.keys = k } }

// Keys are those that the store was opened with; nil where it does not encrypt.
func (s *Store) Keys() *encryption.Keys { return s.keys }

// Open opens a store: a folder's path, which is made when it is missing, or a bucket's URL (file://, mem://, …). A store
// that holds encrypted values is not opened without keys, nor with another key under the id of one of its own.
func Open(ctx context.Context, place string, options ...Option) (*Store, error) {
	s, err := openBucket(ctx, place)
	if err != nil {
		return nil, fmt.Errorf("blobs: open %s: %w", place, err)
	}
	for _, option := range options {
		option(s)
	}
	if err := s.checkKeys(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("blobs: open %s: %w", place, err)
	}
	return s, nil
}

func openBucket(ctx context.Context, place string) (*Store, error) {
	address, err := bucketURL(place)
	if err != nil {
		return nil, err
	}
	bucket, err := blob.OpenBucket(ctx, address)
	if err != nil {
		return nil, err
	}
	cache, err := lru.New[string, remembered](cacheEntries)
	return &Store{bucket: bucket, cache: cache}, err
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
