package devserver

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	defaultNamespace = "default"
	// Temporal's own default is a day: the history of a Friday's run would be gone on Monday.
	defaultRetention = 30 * 24 * time.Hour
	// The server refuses less when it changes a namespace, but would not notice here, where the namespace is written
	// into the database.
	minRetention = time.Hour
	// A start takes half a second; a busy machine may need much longer.
	startTimeout = time.Minute
)

// complete fills in the defaults, refuses what cannot work, and makes the folder.
func (o Options) complete() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("devserver: check options: Dir is empty")
	}
	if o.Port < 0 {
		return o, fmt.Errorf("devserver: check options: Port %d is negative", o.Port)
	}
	if o.Namespace == "" {
		o.Namespace = defaultNamespace
	}
	if o.Retention == 0 {
		o.Retention = defaultRetention
	}
	if o.Retention < minRetention {
		return o, fmt.Errorf("devserver: check options: Retention %v is under %v", o.Retention, minRetention)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	// Absolute, because SQLite opens the file again whenever it likes and the program may change
	// its working directory.
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("devserver: find folder %s: %w", o.Dir, err)
	}
	o.Dir = dir
	// Histories hold the inputs of workflows: nobody else may read them.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return o, fmt.Errorf("devserver: create folder %s: %w", dir, err)
	}
	return o, nil
}

var errInUse = errors.New("another server runs on it")

// lockFolder keeps a second server from the database: two of them would each take the shards
// from the other and write over its work. The kernel lets go when the process dies.
func lockFolder(dir string) (unlock func(), err error) {
	lock := flock.New(filepath.Join(dir, databaseFile+".lock"))
	held, err := lock.TryLock()
	if err == nil && !held {
		err = errInUse
	}
	if err != nil {
		return nil, fmt.Errorf("devserver: lock folder %s: %w", dir, err)
	}
	return func() { _ = lock.Unlock() }, nil
}
