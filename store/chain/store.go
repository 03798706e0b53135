// Package chain keeps the Ideas of a process: each sealed by its digest, naming its parent's, and stored as what it
// differs in from one before it. What it writes can be listed, loaded, compared, explained, verified, exported and
// collected with the store alone: no Temporal, no worker.
//
// An Idea's manifest lies under ideas/<process>/<number>.json. It names the parts, which lie under their digests, or
// holds them where they are small.
package chain

import (
	"errors"
	"fmt"

	"processidea/store/blobs"
)

// Store is the chains of a store of values. It is safe for concurrent use.
type Store struct {
	values *blobs.Store
	tips   *tips
}

// New gives the chains of a store.
func New(values *blobs.Store) *Store { return &Store{values: values, tips: newTips()} }

// What is asked for and is not there, or cannot be.
var (
	ErrNoIdea = errors.New("the store has no such Idea")
	// ErrTaken says that another Idea stands at the place of one that is to be sealed, and that others follow it.
	ErrTaken = errors.New("another Idea stands there, and others follow it")
)

// broken is what cannot be read because it is not what was written: the part of the store, and what is wrong with it.
type broken struct {
	part  string
	cause error
}

func (b *broken) Error() string { return fmt.Sprintf("%s: %s", b.part, b.cause) }

func (b *broken) Unwrap() error { return b.cause }

func brokenf(part, format string, args ...any) error {
	return &broken{part, fmt.Errorf(format, args...)}
}

// lost says whether an error means that something is missing or broken, and not that the store does not answer.
func lost(err error) bool {
	for _, known := range []error{ErrNoIdea, blobs.ErrMissing, blobs.ErrChanged, blobs.ErrUnfit} {
		if errors.Is(err, known) {
			return true
		}
	}
	return named(err)
}

// named says whether an error names the part that is broken.
func named(err error) bool {
	var b *broken
	return errors.As(err, &b)
}
