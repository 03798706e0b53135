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

	"go.temporal.io/server/common/config"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"
)

const databaseFileName = "temporal.db"

// sqlConfigCount counts the connections of this process; see sqlConfig.
var sqlConfigCount atomic.Int64

// openDatabase creates the file, its tables and the namespace if they are missing, and returns how the server connects
// to them.
func openDatabase(dir string) (*config.SQL, error) {
	path := filepath.Join(dir, databaseFileName)
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
	// The namespace is written into the file before the server starts, so that every service knows it from the
	// beginning. An existing one is left as it is.
	ns.Detail.Config.Retention = durationpb.New(namespaceRetention)
	if err := sqlite.CreateNamespaces(db, ns); err != nil {
		return nil, fmt.Errorf("devserver: create namespace %s: %w", namespace, err)
	}
	return db, nil
}

// createDatabase makes the tables in a file of another name, and renames it when it is complete: a program killed in
// between would otherwise leave a broken database for good.
func createDatabase(path string) error {
	draftPath := path + ".new"
	if err := os.Remove(draftPath); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Without a journal and syncs: the file is not used before it is complete, and is synced once.
	f, err := os.OpenFile(draftPath, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := sqlite.SetupSchema(sqlConfig(draftPath, "off", "0")); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(draftPath, path)
}

// sqlConfig describes a connection to the file that no other server of this operating-system process shares. Temporal
// caches connections by their description until that process ends. So a server on a folder that was deleted and made
// again would read the deleted file. Each description therefore has a slightly different timeout, in milliseconds.
func sqlConfig(path, journal, synchronous string) *config.SQL {
	const busyTimeoutMS = 10_000 // ms; a person may have the file open in another tool
	return &config.SQL{
		PluginName: sqliteplugin.PluginName,
		// The path becomes part of a URI: a "?" or "%" in the folder's name must not end the path.
		DatabaseName: (&url.URL{Path: path}).EscapedPath(),
		// SQLite has one writer: with four connections throughput falls to a third.
		MaxConns: 1,
		ConnectAttributes: map[string]string{
			"mode":         "rwc",
			"busy_timeout": strconv.FormatInt(busyTimeoutMS+sqlConfigCount.Add(1), 10),
			"journal_mode": journal,
			"synchronous":  synchronous,
		},
	}
}
