package service

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
)

// phase is where a worker is in its life, or what it waits for before it works.
type phase string

const (
	starting phase = "starting"
	working  phase = "working"
	draining phase = "draining"
)

// health keeps whether the worker is ready.
type health struct {
	mu         sync.Mutex
	phase      phase
	conditions []*condition
}

// condition is one requirement of being ready. Its check is repeated only after a while, so that probes are cheap however
// often they come.
type condition struct {
	name  string
	every time.Duration
	holds func(context.Context) error

	mu  sync.Mutex
	at  time.Time
	err error
}

func newHealth() *health { return &health{phase: starting} }

func (h *health) set(p phase) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.phase = p
}

func (h *health) require(name string, every time.Duration, holds func(context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conditions = append(h.conditions, &condition{name: name, every: every, holds: holds})
}

// troubles returns why the worker is not ready; empty if it is.
func (h *health) troubles(ctx context.Context) []string {
	h.mu.Lock()
	now, conditions := h.phase, h.conditions
	h.mu.Unlock()
	if now != working {
		return []string{string(now)}
	}
	var all []string
	for _, c := range conditions {
		if err := c.look(ctx); err != nil {
			all = append(all, c.name+": "+err.Error())
		}
	}
	return all
}

// patience bounds one check.
const patience = 2 * time.Second

func (c *condition) look(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() || time.Since(c.at) >= c.every {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		c.err, c.at = c.holds(ctx), time.Now()
	}
	return c.err
}

// answers checks that Temporal answers.
func (s *service) answers(ctx context.Context) error {
	if _, err := s.client.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return fmt.Errorf("it does not answer: %w", err)
	}
	return nil
}

// storeEvery is how often the store is tried, which costs money where it is a bucket.
const storeEvery = 15 * time.Second

func (s *service) writes(ctx context.Context) error {
	return s.store.Try(ctx)
}
