package service

import (
	"context"
	"fmt"
	"time"

	"processidea/internal/safego"
)

// stopOvertime is the time for the stop beyond the time to drain, which begins only after the workflow tasks have
// ended.
const stopOvertime = 5 * time.Second

// work runs the worker until ctx ends, or until it cannot go on.
func (s *service) work(ctx context.Context) error {
	s.health.add(&condition{name: "pollers", check: s.polls.check})
	s.health.add(&condition{name: "temporal", every: time.Second, check: s.checkTemporal})
	s.health.add(&condition{name: "store", every: storeCheckInterval, check: s.store.CheckWritable})
	if s.buildID != "" {
		s.health.add(&condition{
			name: "version", every: buildCheckInterval, check: s.checkCurrentBuild, isOptional: true,
		})
	}
	s.health.set(working)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	safego.Go("worker.health", func() error { s.health.watch(watching, s.log); return nil }, func(err error) {
		if err != nil {
			s.log.Error("the check whether this worker is ready has stopped", "error", err)
		}
	})
	interrupt := make(chan any)
	ended := make(chan error, 1)
	safego.Go("worker.run", func() error { return s.worker.Run(interrupt) }, func(err error) { ended <- err })
	select {
	case err := <-ended:
		return fmt.Errorf("run worker: %w", err)
	case <-ctx.Done():
	}
	return s.drainAll(interrupt, ended)
}

// drainAll stops polling and waits for running work; work that has not ended in time is left to another worker. It does
// not wait for a tool that ignores the end of its context.
func (s *service) drainAll(interrupt chan any, ended <-chan error) error {
	s.health.set(draining)
	s.log.Info("draining", "longest", s.drain.String())
	close(interrupt)
	over := time.NewTimer(s.drain + stopOvertime)
	defer over.Stop()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("run worker: %w", err)
		}
		s.log.Info("stopped")
	case <-over.C:
		s.log.Warn("stopped, with work that did not end")
	}
	return nil
}
