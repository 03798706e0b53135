package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"go.temporal.io/sdk/client"

	"processidea/worker/engine"
)

// place is where Temporal and the store are.
type place struct {
	data   string          // the folder of the embedded server
	store  string          // a folder, or a bucket's URL
	remote *client.Options // nil: the embedded server
	note   func(format string, args ...any)
}

func (a *app) place() (place, error) {
	data, err := engine.DataFolder(a.data)
	if err != nil {
		return place{}, err
	}
	p := place{data: data, store: engine.StorePlace(data), note: a.note}
	o, set, err := engine.TemporalFromEnvironment()
	if err != nil {
		return p, &exit{exitUsage, err}
	}
	if set {
		p.remote = &o
	}
	return p, nil
}

const (
	lockFile = "server.lock"
	// patience is how long a server that another program is just starting or stopping is waited for.
	patience = 30 * time.Second
)

// lock makes this program the one that may run a server on the folder. The kernel lets go when the program dies.
func (p place) lock() (unlock func(), ok bool, err error) {
	l := flock.New(filepath.Join(p.data, lockFile))
	ok, err = l.TryLock()
	if err != nil || !ok {
		return nil, false, err
	}
	return func() { _ = l.Unlock() }, true, nil
}

// enter opens a way to Temporal for a verb that may start a server: the remote one, the one that another program runs
// on the folder, or one of its own.
func (p place) enter(ctx context.Context, h hosting) (*session, error) {
	if p.remote != nil {
		return p.dial(ctx)
	}
	if err := os.MkdirAll(p.data, 0o700); err != nil {
		return nil, misuse("make data folder: %w", err)
	}
	return p.await(ctx, func(unlock func()) (*session, error) { return p.host(ctx, unlock, h) })
}

// visit opens a way to Temporal for a verb that looks only.
func (p place) visit(ctx context.Context) (*session, error) {
	if p.remote != nil {
		return p.dial(ctx)
	}
	return p.await(ctx, func(unlock func()) (*session, error) {
		unlock()
		return nil, p.nobody()
	})
}

func (p place) nobody() error {
	return noServer(`find server in %s: none runs there; start one with "starter dev", or set TEMPORAL_ADDRESS`, p.data)
}

// await joins the server that runs on the folder, waiting for one that is just starting. free is called where none does,
// with the folder locked.
func (p place) await(ctx context.Context, free func(unlock func()) (*session, error)) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		unlock, ok, err := p.lock()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, p.nobody()
		case err != nil:
			return nil, noServer("lock %s: %w", p.data, err)
		case ok:
			return free(unlock)
		}
		if s, err := p.join(ctx); err == nil || badKeys(err) {
			return s, err
		}
		select {
		case <-ctx.Done():
			return nil, noServer("find server in %s: another program holds the folder and none answers: %w", p.data, ctx.Err())
		case <-tick.C:
		}
	}
}

// abandoned says whether the server that ran on the folder is gone.
func (p place) abandoned() bool {
	unlock, ok, _ := p.lock()
	if ok {
		unlock()
	}
	return ok
}
