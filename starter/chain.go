package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"processidea/store/blobs"
	"processidea/store/chain"
)

// archive is the chains of Ideas, as they lie in the store. Reading them needs neither a server nor a worker.
type archive struct {
	*chain.Store
	values *blobs.Store
}

// openArchive opens the store of the place.
func (p place) openArchive(ctx context.Context) (*archive, error) {
	at := p.shared()
	// Looking makes no folder.
	if _, err := os.Stat(at); err != nil && !strings.Contains(at, "://") {
		return nil, noServer("open store %s: %w", at, cause(err))
	}
	values, err := openStore(ctx, at)
	if badKeys(err) {
		return nil, err
	}
	if err != nil {
		return nil, &exit{exitUnreachable, err}
	}
	return &archive{chain.New(values), values}, nil
}

// shared is where the store is: that of the server which runs on the folder, where one does.
func (p place) shared() string {
	if n, ok := p.neighbour(); ok && p.remote == nil {
		return n.Store
	}
	return p.store
}

func (c *archive) close() { _ = c.values.Close() }

// read does something with the chains of the store, and closes it.
func (a *app) read(ctx context.Context, do func(*archive) error) error {
	p, err := a.place()
	if err != nil {
		return err
	}
	c, err := p.openArchive(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	return do(c)
}

// length gives the number of a process's latest Idea, and an error for what is to be done where it has none.
func (c *archive) length(ctx context.Context, do, id string) (int, error) {
	last, err := c.Latest(ctx, id)
	if err == nil && last == 0 {
		err = misuse("%s %s: the store has no Idea of a process of this id", do, id)
	}
	return last, err
}

// number checks the number of an Idea that was asked for; 0 is the latest.
func (c *archive) number(ctx context.Context, do, id string, at int) (int, error) {
	last, err := c.length(ctx, do, id)
	switch {
	case err != nil:
		return 0, err
	case at > last:
		return 0, misuse("%s Idea %d of %s: there are %d", do, at, id, last)
	case at < 0:
		return 0, misuse("%s Idea %d of %s: Ideas are numbered from 1", do, at, id)
	case at == 0:
		return last, nil
	}
	return at, nil
}

// asked makes the error of a question that has no answer one of usage.
func asked(err error) error {
	if errors.Is(err, chain.ErrNoValue) || errors.Is(err, chain.ErrBadPlace) {
		return &exit{exitUsage, err}
	}
	return err
}
