// Package memory bounds the memory that the Calls and Requests of one worker use together.
//
// A Budget is a number of bytes. Before a task reads or makes something large, it calls Reserve, and waits until there
// is room. Small values are not counted.
//
// Invariants:
//   - What one Reservation has taken never exceeds the Budget, so that everything fits when nothing else runs.
//   - A Hold returns everything that it took, once.
package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// DefaultBudgetBytes is the default of a worker, in bytes.
	DefaultBudgetBytes = 1 << 30
	// MaxUncountedBytes is the size, in bytes of JSON, up to which values are not counted.
	MaxUncountedBytes = 1 << 20
	// memoryPerJSONByte estimates the memory per byte of a JSON value while it is read, checked and written again.
	memoryPerJSONByte = 10
	// reserveTimeout is how long a Reservation that has taken memory waits for more: two Reservations that wait for
	// each other would otherwise wait forever.
	reserveTimeout = 20 * time.Second
)

// ErrFull means that others used the memory all the time. A later attempt may find room.
var ErrFull = errors.New("the worker has no memory for it at the moment")

// Budget is the memory that all Holds share. It is safe for concurrent use. A nil Budget is unlimited.
type Budget struct {
	available  *semaphore.Weighted
	totalBytes int64
}

// NewBudget returns a Budget of so many bytes.
func NewBudget(bytes int64) *Budget {
	return &Budget{available: semaphore.NewWeighted(bytes), totalBytes: bytes}
}

// Reservation is the memory that one Call or Request has taken.
type Reservation struct {
	budget    *Budget
	mu        sync.Mutex
	usedBytes int64 // guarded by mu
}

type reservationKey struct{}

// WithReservation returns a context under which Reserve takes from the Budget, and a function that returns all of it.
func (b *Budget) WithReservation(ctx context.Context) (_ context.Context, release func()) {
	if b == nil {
		return ctx, func() {}
	}
	h := &Reservation{budget: b}
	return context.WithValue(ctx, reservationKey{}, h), h.release
}

// Reserve waits until the memory for a value of byteCount bytes of JSON is free, and takes it. Without a Budget in the
// context it does nothing.
func Reserve(ctx context.Context, byteCount int) error {
	h, ok := ctx.Value(reservationKey{}).(*Reservation)
	if !ok || byteCount <= MaxUncountedBytes {
		return nil
	}
	return h.reserve(ctx, memoryPerJSONByte*int64(byteCount))
}

func (h *Reservation) reserve(ctx context.Context, byteCount int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	byteCount = min(byteCount, h.budget.totalBytes-h.usedBytes)
	if h.usedBytes > 0 {
		timeoutCtx, cancel := context.WithTimeout(ctx, reserveTimeout)
		defer cancel()
		ctx = timeoutCtx
	}
	if err := h.budget.available.Acquire(ctx, byteCount); err != nil {
		return fmt.Errorf("memory: take %d bytes: %w", byteCount, ErrFull)
	}
	h.usedBytes += byteCount
	return nil
}

func (h *Reservation) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.budget.available.Release(h.usedBytes)
	h.usedBytes = 0
}
