package devserver

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	persistencespb "go.temporal.io/server/api/persistence/v1"
	"go.temporal.io/server/common/persistence"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"

	"processidea/internal/pause"
)

const (
	// historyDeletionDelay is how long a server may take to delete the events of deleted workflows.
	historyDeletionDelay = 10 * time.Second
	// scrubInterval is the polling interval for a database in use.
	scrubInterval = 200 * time.Millisecond
)

// Scrub removes deleted data from the files of a database: SQLite leaves the bytes of deleted rows in place until it
// needs the space. forgotten reports whether the workflow with this id was deleted. Scrub waits for the server to
// delete the events of these workflows. It deletes itself the events of refused starts, which no server ever deletes.
// It works while the server runs, in this program or in another.
func Scrub(ctx context.Context, dir string, isWorkflowDeleted func(workflow string) bool) error {
	path := filepath.Join(dir, databaseFile)
	address := url.URL{Scheme: "file", Path: path,
		RawQuery: "mode=rw&_pragma=busy_timeout(10000)&_pragma=secure_delete(1)"}
	db, err := sql.Open(sqliteplugin.PluginName, address.String())
	if err == nil {
		defer func() { _ = db.Close() }()
		db.SetMaxOpenConns(1)
		err = scrubDatabase(ctx, db, isWorkflowDeleted)
	}
	if err != nil {
		return fmt.Errorf("devserver: scrub %s: %w", path, err)
	}
	return nil
}

func scrubDatabase(ctx context.Context, db *sql.DB, isWorkflowDeleted func(workflow string) bool) error {
	lagCtx, cancel := context.WithTimeout(ctx, historyDeletionDelay)
	defer cancel()
	// A run's events are deleted after the run itself.
	var orphanIDs []branchID
	err := retryUntilDone(lagCtx, func() (done bool, err error) {
		orphanIDs, err = orphanHistories(lagCtx, db, isWorkflowDeleted)
		return len(orphanIDs) == 0, err
	})
	if err != nil && lagCtx.Err() == nil {
		return err
	}
	// If the server refuses a start because the id exists, it keeps the events of that start. They belong to no run.
	for _, b := range orphanIDs {
		for _, table := range []string{"history_node", "history_tree"} {
			_, err := db.ExecContext(ctx, `DELETE FROM `+table+` WHERE tree_id = ? AND branch_id = ?`, b.treeID, b.branchID)
			if err != nil {
				return err
			}
		}
	}
	// VACUUM rewrites the existing data only; the checkpoint then empties the log.
	return retryUntilDone(ctx, func() (done bool, err error) {
		if _, err := db.ExecContext(ctx, `VACUUM`); err != nil {
			return false, err
		}
		var isBusy, logged, moved int
		err = db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&isBusy, &logged, &moved)
		return isBusy == 0, err
	})
}

// branchID identifies a history of events.
type branchID struct{ treeID, branchID []byte }

// orphanHistories returns the histories of forgotten workflows that belong to no run.
func orphanHistories(ctx context.Context, db *sql.DB, isWorkflowDeleted func(workflow string) bool) (branchIDs []branchID, err error) {
	rows, err := db.QueryContext(ctx,
		`SELECT tree_id, branch_id, data FROM history_tree WHERE tree_id NOT IN (SELECT run_id FROM executions)`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var b branchID
		var data []byte
		if err := rows.Scan(&b.treeID, &b.branchID, &data); err != nil {
			return nil, err
		}
		var info persistencespb.HistoryTreeInfo
		if err := info.Unmarshal(data); err != nil {
			return nil, err
		}
		_, workflow, _, err := persistence.SplitHistoryGarbageCleanupInfo(info.GetInfo())
		if err == nil && isWorkflowDeleted(workflow) {
			branchIDs = append(branchIDs, b)
		}
	}
	return branchIDs, rows.Err()
}

// retryUntilDone calls do until it is done, fails, or the context ends.
func retryUntilDone(ctx context.Context, step func() (done bool, err error)) error {
	for {
		done, err := step()
		if done || err != nil {
			return err
		}
		if err := pause.For(ctx, scrubInterval); err != nil {
			return err
		}
	}
}
