package chain

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// Link is one Idea of a chain, as a list shows it.
type Link struct {
	At      int       `json:"at"`
	Digest  string    `json:"digest"`
	Parent  string    `json:"parent,omitempty"`
	Created time.Time `json:"createdAt"`
	// Request is the number of the Request that sealed it; 0 where none did.
	Request int    `json:"request,omitempty"`
	Counts  Counts `json:"counts"`
	Origin  any    `json:"origin,omitempty"`
	// Simulated says who played the Tools of a simulation; absent of a process that ran.
	Simulated any `json:"simulated,omitempty"`
}

// readers is how many manifests are read at a time: a bucket answers many as fast as one.
const readers = 16

// List gives the Ideas of a process in order. The error wraps ErrNoIdea where there is none.
func (s *Store) List(ctx context.Context, process string) ([]Link, error) {
	manifests, err := s.manifests(ctx, process)
	if err != nil {
		return nil, fmt.Errorf("chain: list Ideas of %s: %w", process, err)
	}
	links := make([]Link, len(manifests))
	for i, m := range manifests {
		links[i] = m.link()
	}
	return links, nil
}

func (m *manifest) link() Link {
	// What is no time stays the zero one; Verify says so.
	created, _ := time.Parse(time.RFC3339Nano, m.text(createdAt))
	return Link{
		At: m.number("at"), Digest: m.Digest, Parent: m.text("parent"), Created: created,
		Request: m.number("request"), Counts: m.Counts, Origin: m.Meta[origin], Simulated: m.Meta["simulated"],
	}
}

// manifests reads all manifests of a process in order.
func (s *Store) manifests(ctx context.Context, process string) ([]*manifest, error) {
	numbers, _, err := s.numbers(ctx, process)
	if err != nil {
		return nil, err
	}
	if len(numbers) == 0 {
		return nil, ErrNoIdea
	}
	all := make([]*manifest, len(numbers))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for i, at := range numbers {
		g.Go(func() (err error) {
			all[i], err = s.manifest(ctx, process, at)
			return err
		})
	}
	return all, g.Wait()
}
