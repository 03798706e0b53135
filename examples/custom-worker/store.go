package main

import (
	"context"
	"fmt"
	"sync"

	"processidea/tools"
)

// store is the data that the tools work on: a shop's stock. Yours is a database.
type store struct {
	mu               sync.Mutex
	countByArticle   map[string]int
	reservationByKey map[string]reservation // by idempotency key
}

func newStore() *store {
	return &store{countByArticle: map[string]int{"lamp": 3, "chair": 40}, reservationByKey: map[string]reservation{}}
}

// register registers the tools. Their schemas are derived from the types.
func (s *store) register(r *tools.Registry) {
	tools.Register(r, "checkStock", s.checkStock, tools.Describe("Says how many of an article are there."))
	tools.Register(r, "reserve", s.reserve,
		tools.Describe("Reserves articles. Reserved is reserved: it cannot be undone."))
}

type stockQuery struct {
	Article string `json:"article"`
}

func (s *store) checkStock(_ context.Context, in stockQuery) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.countByArticle[in.Article]
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
	if result, ok := s.reservationByKey[call.IdempotencyKey]; ok {
		return result, nil
	}
	if in.Count < 1 || in.Count > s.countByArticle[in.Article] {
		return reservation{}, tools.Final(fmt.Errorf("%d of %q are not there", in.Count, in.Article))
	}
	s.countByArticle[in.Article] -= in.Count
	result := reservation{Article: in.Article, Count: in.Count, Left: s.countByArticle[in.Article]}
	s.reservationByKey[call.IdempotencyKey] = result
	return result, nil
}
