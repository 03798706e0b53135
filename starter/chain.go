package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"processidea/activities"
	"processidea/activities/blobs"
)

// chain is the Ideas of one process, as they lie in the store. Reading them needs neither a server nor a worker.
type chain struct {
	store   *blobs.Store
	process string
}

// openChain opens the chain of a process, which may hold no Idea.
func (p place) openChain(ctx context.Context, process string) (*chain, error) {
	at := p.shared()
	// Looking makes no folder.
	if _, err := os.Stat(at); err != nil && !strings.Contains(at, "://") {
		return nil, noServer("open store %s: %w", at, cause(err))
	}
	store, err := openStore(ctx, at)
	if badKeys(err) {
		return nil, err
	}
	if err != nil {
		return nil, &exit{exitUnreachable, err}
	}
	return &chain{store, process}, nil
}

// shared is where the store is: that of the server which runs on the folder, where one does.
func (p place) shared() string {
	if n, ok := p.neighbour(); ok && p.remote == nil {
		return n.Store
	}
	return p.store
}

func (c *chain) close() { _ = c.store.Close() }

// at reads the Idea of a number, from 1; ok is false where the chain has none.
func (c *chain) at(ctx context.Context, k int) (idea map[string]any, ok bool, err error) {
	idea, ok, err = activities.LoadIdea(ctx, c.store, c.process, k)
	if err != nil {
		err = fmt.Errorf("read Idea %d of %s: %w", k, c.process, err)
	}
	return idea, ok, err
}

// length finds the number of the latest Idea: the Ideas are numbered without a gap, so it is searched for in ever larger
// steps and then between the last two.
func (c *chain) length(ctx context.Context) (int, error) {
	low, high := 0, 1
	for {
		_, ok, err := c.at(ctx, high)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		low, high = high, 2*high
	}
	for high-low > 1 {
		middle := (low + high) / 2
		_, ok, err := c.at(ctx, middle)
		if err != nil {
			return 0, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}
