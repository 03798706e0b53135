package blobs

import (
	"context"
	"sync"
	"time"

	"gocloud.dev/gcerrors"
)

// A program relies on values that it recently put or saw, without looking again. A program that removes such young
// values first announces it in an object of the store: every writer reads that object every removalNoticed, and from
// then on rewrites older values.
const (
	lastRemovalName = "removals/latest"
	removalNoticed  = 2 * time.Second
)

// RemovalSettleTime is how long after AnnounceRemoval every writer has seen the announcement, and has reported to
// Temporal what it had put before.
const RemovalSettleTime = 5 * time.Second

// removalAnnouncement is what this program knows of the latest announcement of a removal.
type removalAnnouncement struct {
	mu      sync.Mutex
	checked time.Time
	latest  time.Time // zero: there was none
}

// AnnounceRemoval announces that values older than the returned time are about to be removed, however young they are. A
// value that is put later than RemovalSettleTime after it is never older.
func (s *Store) AnnounceRemoval(ctx context.Context) (at time.Time, err error) {
	defer wrapError(&err, "announce that values are removed")
	err = s.writeAll(ctx, lastRemovalName,
		[]byte("Values that are older than this file were removed, or are about to be.\n"))
	if err != nil {
		return at, err
	}
	s.removalAnnouncement.mu.Lock()
	s.removalAnnouncement.checked = time.Time{}
	s.removalAnnouncement.mu.Unlock()
	return s.lastRemoval(ctx)
}

// lastRemoval returns the time of the latest announcement of a removal.
func (s *Store) lastRemoval(ctx context.Context) (time.Time, error) {
	r := &s.removalAnnouncement
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.checked) < removalNoticed {
		return r.latest, nil
	}
	asked := time.Now()
	a, err := s.bucket.Attributes(ctx, lastRemovalName)
	if gcerrors.Code(err) == gcerrors.NotFound {
		r.checked = asked
		return r.latest, nil
	}
	if err != nil {
		return r.latest, err
	}
	r.checked = asked
	if !a.ModTime.Equal(r.latest) {
		r.latest = a.ModTime
		s.verified.Purge()
		s.cache.Purge()
	}
	return r.latest, nil
}
