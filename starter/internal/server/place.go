package server

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	sdk "go.temporal.io/sdk/client"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/connect"
	"processidea/internal/pause"
	"processidea/internal/rehearsal"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/tools/kinds"
	"processidea/worker/engine"
)

// Place is where Temporal and the store are.
type Place struct {
	DataFolder     string       // the folder of the embedded server
	StorePlace     string       // a folder, or a bucket's URL
	IsStoreChosen  bool         // the user named the store, by a flag or by PROCESSIDEA_STORE
	RemoteTemporal *sdk.Options // nil: the embedded server
	// remoteConfigErr says why the configuration of the remote server cannot be read. What needs only the store still
	// works.
	remoteConfigErr error
	Additions       engine.Additions // what this program's workers have besides the built-in tools
	// TemporalHost runs the embedded server.
	TemporalHost TemporalHost
	// Note tells the person at the terminal something.
	Note func(format string, args ...any)
}

// FindPlace reads from the environment where Temporal and the store are. dataFolder and storePlace override the
// environment unless they are empty.
func FindPlace(dataFolder, storePlace string, note func(format string, args ...any)) (Place, error) {
	folder, err := connect.DataFolder(dataFolder)
	if err != nil {
		return Place{}, err
	}
	p := Place{DataFolder: folder, StorePlace: connect.StorePathOrURL(folder),
		IsStoreChosen: os.Getenv(connect.StoreVariable) != "",
		Note:          note}
	switch ownStorePlace := connect.DefaultStoreFolder(folder); {
	case storePlace != "":
		p.StorePlace, p.IsStoreChosen = connect.AbsoluteStorePathOrURL(storePlace), true
	case dataFolder != "" && p.IsStoreChosen && p.StorePlace != ownStorePlace && isFolder(ownStorePlace):
		return p, exit.Usagef("--data %s has a store of its own, but %s names %s: choose one with --store",
			dataFolder, connect.StoreVariable, p.StorePlace)
	}
	o, isSet, err := connect.TemporalOptionsFromEnvironment()
	if err != nil {
		p.remoteConfigErr = exit.Usagef("%w", err)
	}
	if isSet || err != nil {
		p.RemoteTemporal = &o
	}
	return p, nil
}

// Tools describes what is known here about the workers' tools.
func (p Place) Tools() ideafiles.WorkerTools {
	dependencies := engine.Dependencies{}.With(p.Additions)
	return ideafiles.WorkerTools{
		Registry: kinds.NewKnownTools(dependencies.Tools, dependencies.Runners), CheckReplies: rehearsal.CountReplies,
		HasOtherWorkers: p.RemoteTemporal != nil,
	}
}

const (
	lockFile = "server.lock"
	// otherProgramTimeout is the maximum wait for a server that another program is starting or stopping.
	otherProgramTimeout = 30 * time.Second
)

// lockFolder gives this program the sole right to run a server on the folder. The kernel releases the lock when the
// program dies.
func (p Place) lockFolder() (unlock func(), ok bool, err error) {
	l := flock.New(filepath.Join(p.DataFolder, lockFile))
	ok, err = l.TryLock()
	if err != nil || !ok {
		return nil, false, err
	}
	return func() { _ = l.Unlock() }, true, nil
}

// OpenSession connects to Temporal for a verb that may start a server. It uses the remote server, the server that
// another program runs on the folder, or a server of its own.
func (p Place) OpenSession(ctx context.Context, h HostOptions) (*Session, error) {
	if p.RemoteTemporal != nil {
		return p.dialRemote(ctx)
	}
	if err := p.makeDataFolder(); err != nil {
		return nil, err
	}
	return p.awaitServer(ctx, func(unlock func()) (*Session, error) { return p.hostServer(ctx, unlock, h) })
}

func (p Place) makeDataFolder() error {
	if err := os.MkdirAll(p.DataFolder, 0o700); err != nil {
		return exit.Usagef("make data folder: %w", err)
	}
	return nil
}

// Connect connects to Temporal for a verb that starts no server.
func (p Place) Connect(ctx context.Context) (*Session, error) {
	if p.RemoteTemporal != nil {
		return p.dialRemote(ctx)
	}
	return p.awaitServer(ctx, func(unlock func()) (*Session, error) {
		unlock()
		return nil, p.noServerError()
	})
}

func (p Place) noServerError() error {
	return exit.Unreachablef(`find server in %s: none runs there; start one with "%s dev", or set TEMPORAL_ADDRESS`,
		p.DataFolder, print.ProgramName)
}

// awaitServer joins the server that runs on the folder, and waits for one that is starting. If no program runs one, it
// locks the folder and calls free.
func (p Place) awaitServer(ctx context.Context, onNoServer func(unlock func()) (*Session, error)) (*Session, error) {
	ctx, cancel := context.WithTimeout(ctx, otherProgramTimeout)
	defer cancel()
	for {
		unlock, ok, err := p.lockFolder()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, p.noServerError()
		case err != nil:
			return nil, exit.Unreachablef("lock %s: %w", p.DataFolder, err)
		case ok:
			return onNoServer(unlock)
		}
		s, err := p.joinRunningServer(ctx)
		if err == nil || errors.Is(err, client.ErrKeys) {
			return s, err
		}
		if err := pause.For(ctx, 50*time.Millisecond); err != nil {
			return nil, exit.Unreachablef("find server in %s: another program has locked the folder, but no server "+
				"answers: %w",
				p.DataFolder, err)
		}
	}
}

// IsServerAbandoned reports whether the server that ran on the folder is gone.
func (p Place) IsServerAbandoned() bool {
	unlock, ok, _ := p.lockFolder()
	if ok {
		unlock()
	}
	return ok
}

// StorePlaceInUse returns the store's place: the one given by the user, otherwise the store of the server that runs on
// the folder. A copied folder names that server too, but no server holds the copy's lock.
func (p Place) StorePlaceInUse() string {
	if info, ok := p.RunningServer(); ok && p.RemoteTemporal == nil && !p.IsStoreChosen && !p.IsServerAbandoned() {
		return info.StorePlace
	}
	return p.StorePlace
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// OpenArchive opens the chains of the place without a server. It creates no folder.
func (p Place) OpenArchive(ctx context.Context) (*client.Archive, error) {
	storePlace := p.StorePlaceInUse()
	if _, err := os.Stat(storePlace); err != nil && !strings.Contains(storePlace, "://") {
		return nil, exit.Unreachablef("open store %s: %w", storePlace, ideafiles.WithoutPath(err))
	}
	archive, err := OpenArchive(ctx, storePlace)
	if err != nil && !errors.Is(err, client.ErrKeys) {
		err = exit.Unreachablef("%w", err)
	}
	return archive, err
}

// OpenArchive opens a store with the keys of the environment. The error wraps client.ErrKeys if the keys are broken or
// missing, or if they are not this store's keys.
func OpenArchive(ctx context.Context, storePlace string) (*client.Archive, error) {
	keys, err := client.KeysFromEnvironment()
	if err != nil {
		return nil, err
	}
	return client.OpenArchive(ctx, storePlace, keys)
}
