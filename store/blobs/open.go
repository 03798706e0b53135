package blobs

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"  // file:// too
	_ "gocloud.dev/blob/memblob" // mem://, for tests

	"processidea/store/encryption"
)

// Option changes how a store is opened.
type Option func(*Store)

// WithKeys encrypts everything that is written with the first of the keys. Data that any of the keys encrypted, and
// unencrypted data, can be read. Nil keys encrypt nothing.
func WithKeys(k *encryption.Keys) Option { return func(s *Store) { s.keys = k } }

// WithCacheBytes bounds the values that the store keeps in memory, in bytes; 0: DefaultCacheBytes.
func WithCacheBytes(maxBytes int) Option {
	return func(s *Store) { s.cache = newCache(cmp.Or(maxBytes, DefaultCacheBytes)) }
}

// WithoutFsync lets the operating system decide when a folder's files reach the disk: for tests, which need not survive
// a power cut.
func WithoutFsync() Option { return func(s *Store) { s.skipFsync = true } }

// PathOrURL returns the place of the store, as passed to Open.
func (s *Store) PathOrURL() string { return s.pathOrURL }

// Keys returns the keys that the store was opened with; nil if it does not encrypt.
func (s *Store) Keys() *encryption.Keys { return s.keys }

// Open opens a store: a folder's path, which is created if it is missing, or a bucket's URL (file://, mem://, …). It
// fails for a store with encrypted values if keys are missing, or if a key differs from the store's key of the same id.
func Open(ctx context.Context, pathOrURL string, options ...Option) (s *Store, err error) {
	defer wrapError(&err, "open %s", pathOrURL)
	if s, err = openBucket(ctx, pathOrURL); err != nil {
		return nil, err
	}
	for _, option := range options {
		option(s)
	}
	id, err := s.readIDFile(ctx)
	if err == nil {
		s.id.Store(id)
		err = s.checkKeysInUse(ctx)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func openBucket(ctx context.Context, pathOrURL string) (*Store, error) {
	address, folder, err := bucketURL(pathOrURL)
	if err != nil {
		return nil, err
	}
	if scheme, _, isURL := strings.Cut(address, "://"); isURL && !blob.DefaultURLMux().ValidBucketScheme(scheme) {
		return nil, fmt.Errorf("there is no kind of store %s:// here; there are %s (for buckets, a program of "+
			"your own imports processidea/store/buckets)", scheme,
			strings.Join(blob.DefaultURLMux().BucketSchemes(), ", "))
	}
	bucket, err := blob.OpenBucket(ctx, address)
	if err != nil {
		return nil, err
	}
	s := &Store{bucket: bucket, pathOrURL: pathOrURL, folder: folder}
	s.cache = newCache(DefaultCacheBytes)
	s.verifiedAtByName, _ = lru.New[string, time.Time](maxLookupCacheEntries) // it fails only for a size below one
	s.dataKeys, _ = lru.New[string, *encryption.Key](maxLookupCacheEntries)
	s.syncedFolders, _ = lru.New[string, struct{}](maxLookupCacheEntries)
	return s, nil
}

// bucketURL returns the URL by which gocloud opens a place, and the folder if the place is one. Temporary files are
// created in the folders of their final names, so that they can be renamed. A folder given by its path gets no
// attribute files beside the values.
func bucketURL(pathOrURL string) (address, folder string, err error) {
	if !strings.Contains(pathOrURL, "://") {
		folder, err = filepath.Abs(pathOrURL)
		if err == nil {
			err = os.MkdirAll(folder, 0o700)
		}
		u := url.URL{Scheme: fileblob.Scheme, Path: filepath.ToSlash(folder), RawQuery: "metadata=skip&no_tmp_dir=true"}
		return u.String(), folder, err
	}
	// A malformed URL is reported when it is opened.
	u, err := url.Parse(pathOrURL)
	if isFolderURL := err == nil && u.Scheme == fileblob.Scheme; !isFolderURL {
		return pathOrURL, "", nil
	}
	path := u.Path
	if u.Host == "." {
		path = strings.TrimPrefix(path, "/")
	}
	folder, err = filepath.Abs(filepath.FromSlash(path))
	if q := u.Query(); err == nil && !q.Has("no_tmp_dir") {
		q.Set("no_tmp_dir", "true")
		u.RawQuery = q.Encode()
	}
	return u.String(), folder, err
}

// Close closes the store.
func (s *Store) Close() error { return s.bucket.Close() }
