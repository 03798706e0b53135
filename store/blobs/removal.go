package blobs

import (
	"context"
	"sync"
	"time"

	"gocloud.dev/gcerrors"
)

// A program relies on values that it recently put or saw, without looking again. A program that removes such young
// values first announces it in an object of the store: every writer reads that object every removalCheckInterval, and
// from then on rewrites older values.
const (
	lastRemovalObjectName = "removals/latest"
	removalCheckInterval  = 2 * time.Second
)

// RemovalNoticePeriod is how long after AnnounceRemoval every writer has seen the announcement, and has reported to
// Temporal what it had put before.
const RemovalNoticePeriod = 5 * time.Second

// removalAnnouncement is what this program knows of the latest announcement of a removal.
type removalAnnouncement struct {
	mu         sync.Mutex
	lastReadAt time.Time
	latestAt   time.Time // zero: there was none
}

// AnnounceRemoval announces that values older than the returned time are about to be removed, however young they are. A
// value that is put later than RemovalNoticePeriod after it is never older.
func (s *Store) AnnounceRemoval(ctx context.Context) (announcedAt time.Time, err error) {
	defer wrapError(&err, "announce that values are removed")
	err = s.writeNotingFailure(ctx, lastRemovalObjectName,
		[]byte("Values that are older than this file were removed, or are about to be.\n"))
	if err != nil {
		return announcedAt, err
	}
	s.removalAnnouncement.mu.Lock()
	s.removalAnnouncement.lastReadAt = time.Time{}
	s.removalAnnouncement.mu.Unlock()
	return s.lastRemovalAnnouncedAt(ctx)
}

// lastRemovalAnnouncedAt returns the time of the latest announcement of a removal.
func (s *Store) lastRemovalAnnouncedAt(ctx context.Context) (time.Time, error) {
	r := &s.removalAnnouncement
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.lastReadAt) < removalCheckInterval {
		return r.latestAt, nil
	}
	askedAt := time.Now()
	a, err := s.bucket.Attributes(ctx, lastRemovalObjectName)
	if gcerrors.Code(err) == gcerrors.NotFound {
		r.lastReadAt = askedAt
		return r.latestAt, nil
	}
	if err != nil {
		return r.latestAt, err
	}
	r.lastReadAt = askedAt
	if !a.ModTime.Equal(r.latestAt) {
		r.latestAt = a.ModTime
		s.verifiedAtByName.Purge()
		s.cache.Purge()
	}
	return r.latestAt, nil
}
