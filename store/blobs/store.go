package blobs

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"processidea/model/jsonval"
	"processidea/store/encryption"
)

// Store keeps bytes by their SHA-256 digest. It is safe for concurrent use.
type Store struct {
	bucket               *blob.Bucket
	pathOrURL            string // as it was opened
	folder               string // empty if the bucket is not a folder
	keys                 *encryption.Keys
	isPrimaryKeyRecorded atomic.Bool // the bucket says that the primary key is in use
	skipFsync            bool
	hasLastWriteFailed   atomic.Bool  // the last write failed
	lastFailedWriteBytes atomic.Int64 // bytes of the last failed write, at most maxProbeBytes
	// OnFailure is called for each failed write and read, with its process; empty if it belongs to none. It must be set
	// before the first of them.
	OnFailure func(process string, err error)

	id       atomic.Value // a string, once it is known
	idFileMu sync.Mutex

	cache            cache                         // values by their digests
	verifiedAtByName *lru.Cache[string, time.Time] // when this program last saw an intact value, by name
	syncedFolders    *lru.Cache[string, struct{}]  // folders whose names are on the disk

	dataKeys            *lru.Cache[string, *encryption.Key] // by process
	removalAnnouncement removalAnnouncement
}

const maxLookupCacheEntries = 16 << 10

// MaxPutValueAge bounds the age of a value that Put has just returned: an older value is written again. So a collector
// that removes only unreferenced values older than this never removes a value in use.
const MaxPutValueAge = time.Hour

// Reasons why a value cannot be read, other than a store that does not answer or a missing key.
var (
	ErrMissing  = errors.New("the store has no such value")
	ErrChanged  = errors.New("the bytes have changed")
	ErrMismatch = errors.New("the stored value is not what its handle says")
)

// IsTransient reports whether a store's failure may pass by itself. Lost values, and values under a key that this
// program lacks, do not come back.
func IsTransient(err error) bool {
	for _, permanentErr := range []error{ErrMissing, ErrChanged, ErrMismatch, ErrTooLarge, ErrForgotten} {
		if errors.Is(err, permanentErr) {
			return false
		}
	}
	return !encryption.IsKeyError(err)
}

// ErrTooLarge means that a value exceeds its size limit once its handles are replaced by stored values.
var ErrTooLarge = errors.New("the value is too large with all that it refers to")

// wrapError prefixes a returned error with the operation that failed.
func wrapError(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("blobs: "+format+": %w", append(args, *err)...)
	}
}

// reportFailure calls Failed for a returned error.
func (s *Store) reportFailure(ctx context.Context, err *error) {
	if *err != nil && s.OnFailure != nil && ctx.Err() == nil {
		s.OnFailure(ownerFromContext(ctx), *err)
	}
}

// Put stores bytes and returns their digest: SHA-256 in hex.
func (s *Store) Put(ctx context.Context, data []byte) (string, error) { return s.put(ctx, data, false) }

func (s *Store) put(ctx context.Context, data []byte, skipEncryption bool) (digest string, err error) {
	digest = jsonval.Digest(data)
	defer s.reportFailure(ctx, &err)
	defer wrapError(&err, "put %s", digest)
	loc := plainLocation(digest)
	if !skipEncryption {
		loc, err = s.writeLocation(ctx, digest)
	}
	var removalAnnouncedAt time.Time
	if err == nil {
		removalAnnouncedAt, err = s.lastRemovalAnnouncedAt(ctx)
	}
	if err != nil {
		return "", err
	}
	if verifiedAt, ok := s.verifiedAtByName.Get(loc.name); ok && time.Since(verifiedAt) < MaxPutValueAge/2 {
		return digest, nil
	}
	isFreshlyStored, err := s.isFreshlyStored(ctx, loc, data, removalAnnouncedAt)
	if err == nil && !isFreshlyStored {
		err = s.writeAt(ctx, loc, data)
	}
	if err != nil {
		return "", err
	}
	s.verifiedAtByName.Add(loc.name, time.Now())
	s.cache.add(digest, data)
	return digest, nil
}

// isFreshlyStored reports whether a value is stored completely and recently. Its name alone proves nothing: a value
// that a full disk cut off, that has changed, or that is older than the last announced removal is written again.
func (s *Store) isFreshlyStored(ctx context.Context, loc location, data []byte,
	removalAnnouncedAt time.Time) (bool, error) {
	a, err := s.bucket.Attributes(ctx, loc.name)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return false, nil
	}
	if err != nil || time.Since(a.ModTime) >= MaxPutValueAge/2 || a.ModTime.Before(removalAnnouncedAt) {
		return false, err
	}
	if loc.key == nil && a.Size != int64(len(data)) {
		return false, nil
	}
	if loc.key == nil && s.folder == "" && len(a.MD5) > 0 { // the checksum of the bucket's server
		sum := md5.Sum(data)
		return bytes.Equal(a.MD5, sum[:]), nil
	}
	existing, err := s.bucket.ReadAll(ctx, loc.name)
	if err == nil {
		existing, err = s.decryptAt(loc, existing)
	}
	return err == nil && bytes.Equal(existing, data), nil
}

func (s *Store) writeAt(ctx context.Context, loc location, data []byte) error {
	data, err := s.encryptAt(loc, data)
	if err != nil {
		return err
	}
	return s.writeNotingFailure(ctx, loc.name, data)
}

// Get reads bytes by their digest, and checks that they have it. If a key that this program lacks may have encrypted
// them, the error is an *encryption.MissingKeyError.
func (s *Store) Get(ctx context.Context, digest string) ([]byte, error) {
	return s.get(ctx, digest, false)
}

func (s *Store) get(ctx context.Context, digest string, skipDecryption bool) ([]byte, error) {
	if cached, ok := s.cache.Get(digest); ok {
		return cached, nil
	}
	data, err := s.getUncached(ctx, digest, skipDecryption)
	if err == nil {
		s.cache.add(digest, data)
	}
	return data, err
}

// GetUncached is Get without the cache. The error wraps ErrMissing or ErrChanged if the value is lost.
func (s *Store) GetUncached(ctx context.Context, digest string) ([]byte, error) {
	return s.getUncached(ctx, digest, false)
}

func (s *Store) getUncached(ctx context.Context, digest string, skipDecryption bool) (data []byte, err error) {
	if !IsDigest(digest) {
		return nil, fmt.Errorf("blobs: get %q: not a digest", digest)
	}
	defer s.reportFailure(ctx, &err)
	defer wrapError(&err, "get %s", digest)
	if skipDecryption {
		return s.readFirst(ctx, []location{plainLocation(digest)})
	}
	readOnce := func() ([]byte, error) {
		locations, err := s.possibleLocations(ctx, digest)
		if err != nil {
			return nil, err
		}
		return s.readFirst(ctx, locations)
	}
	data, err = readOnce()
	// Another program may have given the process a new data key.
	if errors.Is(err, ErrMissing) && s.dataKeys.Remove(ownerFromContext(ctx)) {
		data, err = readOnce()
	}
	return data, err
}

// readFirst reads a value from the first place that has an object.
func (s *Store) readFirst(ctx context.Context, locations []location) ([]byte, error) {
	for _, loc := range locations {
		data, err := s.bucket.ReadAll(ctx, loc.name)
		if gcerrors.Code(err) == gcerrors.NotFound {
			continue
		}
		if err == nil {
			data, err = s.decryptAt(loc, data)
		}
		if err == nil && jsonval.Digest(data) != loc.digest {
			err = ErrChanged
		}
		return data, err
	}
	if err := s.checkIDFile(ctx); err != nil {
		return nil, err
	}
	return nil, s.notFoundError(ctx)
}

// IsDigest reports whether a text has the form of a digest: SHA-256 in lower-case hex.
func IsDigest(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// Write stores bytes under a name, for objects that are looked up by name, such as the Ideas of a process. The name
// stays readable.
func (s *Store) Write(ctx context.Context, name string, data []byte) (err error) {
	defer s.reportFailure(ctx, &err)
	defer wrapError(&err, "write %s", name)
	data, err = s.encryptNamedObject(ctx, name, data)
	if err != nil {
		return err
	}
	return s.writeNotingFailure(ctx, name, data)
}

// Read reads what Write stored under a name; ok is false if there is nothing. The error wraps ErrChanged if the bytes
// cannot be decrypted, and is an *encryption.MissingKeyError if this program lacks their key.
func (s *Store) Read(ctx context.Context, name string) (data []byte, ok bool, err error) {
	defer s.reportFailure(ctx, &err)
	defer wrapError(&err, "read %s", name)
	data, err = s.bucket.ReadAll(ctx, name)
	if gcerrors.Code(err) == gcerrors.NotFound {
		if err = s.checkSameFolderStore(ctx); err == nil {
			return nil, false, nil
		}
	}
	if err == nil {
		data, err = s.decryptNamedObject(ctx, name, data)
	}
	return data, err == nil, err
}
