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
	// maxHistoryDeletionDelay is how long a server may take to delete the events of deleted workflows.
	maxHistoryDeletionDelay = 10 * time.Second
	// scrubRetryInterval is the polling interval for a database in use.
	scrubRetryInterval = 200 * time.Millisecond
)

// Scrub removes deleted data from the files of a database: SQLite leaves the bytes of deleted rows in place until it
// needs the space. isWorkflowDeleted reports whether the workflow with this id was deleted. Scrub waits for the server
// to delete the events of these workflows. It deletes itself the events of refused starts, which no server ever
// deletes. It works while the server runs, in this program or in another.
func Scrub(ctx context.Context, dir string, isWorkflowDeleted func(workflowID string) bool) error {
	databasePath := filepath.Join(dir, databaseFileName)
	databaseURL := url.URL{Scheme: "file", Path: databasePath,
		RawQuery: "mode=rw&_pragma=busy_timeout(10000)&_pragma=secure_delete(1)"}
	db, err := sql.Open(sqliteplugin.PluginName, databaseURL.String())
	if err == nil {
		defer func() { _ = db.Close() }()
		db.SetMaxOpenConns(1)
		err = scrubDatabase(ctx, db, isWorkflowDeleted)
	}
	if err != nil {
		return fmt.Errorf("devserver: scrub %s: %w", databasePath, err)
	}
	return nil
}

func scrubDatabase(ctx context.Context, db *sql.DB, isWorkflowDeleted func(workflowID string) bool) error {
	deletionCtx, cancel := context.WithTimeout(ctx, maxHistoryDeletionDelay)
	defer cancel()
	// A run's events are deleted after the run itself.
	var orphanBranches []historyBranch
	err := retryUntilDone(deletionCtx, func() (done bool, err error) {
		orphanBranches, err = findOrphanHistories(deletionCtx, db, isWorkflowDeleted)
		return len(orphanBranches) == 0, err
	})
	if err != nil && deletionCtx.Err() == nil {
		return err
	}
	// If the server refuses a start because the id exists, it keeps the events of that start. They belong to no run.
	for _, b := range orphanBranches {
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
		var busyFlag, loggedPageCount, movedPageCount int
		err = db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busyFlag, &loggedPageCount, &movedPageCount)
		return busyFlag == 0, err
	})
}

// historyBranch identifies a history of events.
type historyBranch struct{ treeID, branchID []byte }

// findOrphanHistories returns the histories of forgotten workflows that belong to no run.
func findOrphanHistories(ctx context.Context, db *sql.DB,
	isWorkflowDeleted func(workflowID string) bool) (branches []historyBranch, err error) {
	rows, err := db.QueryContext(ctx,
		`SELECT tree_id, branch_id, data FROM history_tree WHERE tree_id NOT IN (SELECT run_id FROM executions)`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var b historyBranch
		var data []byte
		if err := rows.Scan(&b.treeID, &b.branchID, &data); err != nil {
			return nil, err
		}
		var info persistencespb.HistoryTreeInfo
		if err := info.Unmarshal(data); err != nil {
			return nil, err
		}
		_, workflowID, _, err := persistence.SplitHistoryGarbageCleanupInfo(info.GetInfo())
		if err == nil && isWorkflowDeleted(workflowID) {
			branches = append(branches, b)
		}
	}
	return branches, rows.Err()
}

// retryUntilDone calls do until it is done, fails, or the context ends.
func retryUntilDone(ctx context.Context, step func() (done bool, err error)) error {
	for {
		done, err := step()
		if done || err != nil {
			return err
		}
		if err := pause.For(ctx, scrubRetryInterval); err != nil {
			return err
		}
	}
}
