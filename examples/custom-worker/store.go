package main

import (
	"context"
	"fmt"
	"sync"

	"processidea/tools"
)

// store is the data that the tools work on: a shop's stock. Yours is a database.
type store struct {
	mu       sync.Mutex
	stock    map[string]int
	reserved map[string]reservation // by idempotency key
}

func newStore() *store {
	return &store{stock: map[string]int{"lamp": 3, "chair": 40}, reserved: map[string]reservation{}}
}

// register registers the tools. Their schemas are derived from the types.
func (s *store) register(r *tools.Registry) {
	tools.Register(r, "checkStock", s.check, tools.Describe("Says how many of an article are there."))
	tools.Register(r, "reserve", s.reserve,
		tools.Describe("Reserves articles. Reserved is reserved: it cannot be undone."))
}

type article struct {
	Article string `json:"article"`
}

func (s *store) check(_ context.Context, in article) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.stock[in.Article]
	if !ok {
		// Another attempt would fail in the same way.
		return 0, tools.Final(fmt.Errorf("there is no article %q", in.Article))
	}
	return n, nil
}

type order struct {
	Article string `json:"article"`
	Count   int    `json:"count"`
}

type reservation struct {
	Article string `json:"article"`
	Count   int    `json:"count"`
	Left    int    `json:"left"`
}

// reserve has an effect. A Call that runs again, because its worker died or its answer was lost, has the same
// idempotency key, and gets the same reservation.
func (s *store) reserve(ctx context.Context, in order) (reservation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call, _ := tools.CallInfo(ctx)
	if done, ok := s.reserved[call.IdempotencyKey]; ok {
		return done, nil
	}
	if in.Count < 1 || in.Count > s.stock[in.Article] {
		return reservation{}, tools.Final(fmt.Errorf("%d of %q are not there", in.Count, in.Article))
	}
	s.stock[in.Article] -= in.Count
	done := reservation{Article: in.Article, Count: in.Count, Left: s.stock[in.Article]}
	s.reserved[call.IdempotencyKey] = done
	return done, nil
}
