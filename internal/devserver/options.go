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
	namespace = "default"
	// Temporal's own default is a day: the history of a Friday's run would be gone on Monday.
	namespaceRetention = 30 * 24 * time.Hour
	// A start takes half a second; a busy machine may need much longer.
	startTimeout = time.Minute
)

// withDefaults fills in the defaults, refuses invalid options, and makes the folder.
func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" {
		return o, errors.New("devserver: check options: Dir is empty")
	}
	if o.Port < 0 {
		return o, fmt.Errorf("devserver: check options: Port %d is negative", o.Port)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	// The path must be absolute: SQLite may open the file again at any time, and the program may change its working
	// directory.
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

var errFolderInUse = errors.New("another server runs on it")

// lockFolder keeps a second server away from the database: two servers would take the shards from each other and
// overwrite each other's work. The kernel releases the lock when the process dies.
func lockFolder(dir string) (unlock func(), err error) {
	lock := flock.New(filepath.Join(dir, databaseFileName+".lock"))
	isLocked, err := lock.TryLock()
	if err == nil && !isLocked {
		err = errFolderInUse
	}
	if err != nil {
		return nil, fmt.Errorf("devserver: lock folder %s: %w", dir, err)
	}
	return func() { _ = lock.Unlock() }, nil
}
