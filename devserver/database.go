package devserver

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"go.temporal.io/server/common/config"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"
)

const databaseFile = "temporal.db"

// opened counts the connections of this process; see sqlConfig.
var opened atomic.Int64

// openDatabase makes sure of the file, its tables and the namespace, and returns how the server
// reaches them.
func openDatabase(dir, namespace string, retention time.Duration) (*config.SQL, error) {
	path := filepath.Join(dir, databaseFile)
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = createDatabase(path)
	}
	if err != nil {
		return nil, fmt.Errorf("devserver: create database %s: %w", path, err)
	}
	db := sqlConfig(path, "wal", "1")
	ns, err := sqlite.NewNamespaceConfig(clusterName, namespace, false, nil)
	if err != nil {
		return nil, fmt.Errorf("devserver: describe namespace %s: %w", namespace, err)
	}
	// Written into the file rather than asked of the server, so that every part of it knows the
	// namespace from its first moment. One that is there already is left as it is.
	ns.Detail.Config.Retention = durationpb.New(retention)
	if err := sqlite.CreateNamespaces(db, ns); err != nil {
		return nil, fmt.Errorf("devserver: create namespace %s: %w", namespace, err)
	}
	return db, nil
}

// createDatabase makes the tables in a file of another name and renames it when it is whole: a
// program killed in between would otherwise leave a file that looks like a database for good.
func createDatabase(path string) error {
	draft := path + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Neither journal nor syncs, which a draft does not need: 60 statements in one go, one sync.
	f, err := os.OpenFile(draft, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := sqlite.SetupSchema(sqlConfig(draft, "off", "0")); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(draft, path)
}

// sqlConfig describes a connection of its own to the file. Temporal keeps connections by their
// description for as long as the process lives: without the number, a folder that was deleted and
// made again would be served from the deleted file. A few milliseconds of timeout tell them apart.
func sqlConfig(path, journal, synchronous string) *config.SQL {
	const patience = 10_000 // ms; for whoever looks into the file with a tool of their own
	return &config.SQL{
		PluginName: sqliteplugin.PluginName,
		// It becomes part of a URI as it is: a "?" or "%" in the folder's name must not cut it.
		DatabaseName: (&url.URL{Path: path}).EscapedPath(),
		// One: with four, throughput falls to a third, as SQLite has one writer anyway.
		MaxConns: 1,
		ConnectAttributes: map[string]string{
			"mode":         "rwc",
			"busy_timeout": strconv.FormatInt(patience+opened.Add(1), 10),
			"journal_mode": journal,
			"synchronous":  synchronous,
		},
	}
}
