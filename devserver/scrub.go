package devserver

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
)

const (
	// historyLag is how long a server may take to delete the events of workflows that it knows no more.
	historyLag = 20 * time.Second
	// scrubEvery is how often a database at work is asked again.
	scrubEvery = 200 * time.Millisecond
)

// Scrub removes from the files of a database what was deleted there: SQLite leaves the bytes of deleted rows where they were, until it needs
// the room. It waits for the server that is to delete them, and works while that runs, in this program or in another.
func Scrub(ctx context.Context, dir string) error {
	path := filepath.Join(dir, databaseFile)
	address := url.URL{Scheme: "file", Path: path, RawQuery: "mode=rw&_pragma=busy_timeout(10000)&_pragma=secure_delete(1)"}
	db, err := sql.Open(sqliteplugin.PluginName, address.String())
	if err == nil {
		defer func() { _ = db.Close() }()
		db.SetMaxOpenConns(1)
		err = scrub(ctx, db)
	}
	if err != nil {
		return fmt.Errorf("devserver: scrub %s: %w", path, err)
	}
	return nil
}

func scrub(ctx context.Context, db *sql.DB) error {
	lag, cancel := context.WithTimeout(ctx, historyLag)
	defer cancel()
	// A run's events are deleted last, after the run. What stays longer belongs to no run that was deleted just now.
	err := again(lag, func() (done bool, err error) {
		left := 0
		err = db.QueryRowContext(lag, `SELECT COUNT(*) FROM history_tree WHERE tree_id NOT IN (SELECT run_id FROM executions)`).Scan(&left)
		return left == 0, err
	})
	if err != nil && lag.Err() == nil {
		return err
	}
	// VACUUM writes all that there is anew, without what is not; the checkpoint then empties the log.
	return again(ctx, func() (done bool, err error) {
		if _, err := db.ExecContext(ctx, `VACUUM`); err != nil {
			return false, err
		}
		var busy, logged, moved int
		err = db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &logged, &moved)
		return busy == 0, err
	})
}

// again does something until it is done, fails, or the context ends.
func again(ctx context.Context, do func() (done bool, err error)) error {
	for {
		done, err := do()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(scrubEvery):
		}
	}
}
