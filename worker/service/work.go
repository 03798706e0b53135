package service

import (
	"context"
	"fmt"
	"time"

	"processidea/internal/safego"
)

// stopGracePeriod is the time for the stop beyond the time to drain, which begins only after the workflow tasks have
// ended.
const stopGracePeriod = 5 * time.Second

// runWorker runs the worker until ctx ends, or until it cannot go on.
func (s *service) runWorker(ctx context.Context) error {
	s.addConditions()
	s.health.setPhase(phaseWorking)
	watchCtx, stop := context.WithCancel(ctx)
	defer stop()
	safego.Go("worker.health", func() error { s.health.watchAndLog(watchCtx, s.log); return nil }, func(err error) {
		if err != nil {
			s.log.Error("the check whether this worker is ready has stopped", "error", err)
		}
	})
	interrupt := make(chan any)
	workerEnded := make(chan error, 1)
	safego.Go("worker.run", func() error { return s.worker.Run(interrupt) }, func(err error) { workerEnded <- err })
	select {
	case err := <-workerEnded:
		return fmt.Errorf("run worker: %w", err)
	case <-ctx.Done():
	}
	return s.drainAll(interrupt, workerEnded)
}

// addConditions adds what the worker needs to be ready, beside a gateway.
func (s *service) addConditions() {
	s.health.addCondition(&readinessCondition{name: "pollers", check: s.pollMonitor.check})
	s.health.addCondition(&readinessCondition{name: "temporal", recheckInterval: time.Second, check: s.checkTemporal})
	s.health.addCondition(&readinessCondition{name: "store", recheckInterval: storeCheckInterval,
		check: s.store.CheckWritableAtFailedSize})
	// A worker that lacks a key is ready: it may have dropped an old one on purpose, and leaves what it cannot read to
	// others. The log names a key where it is needed.
	s.health.addCondition(&readinessCondition{name: "keys", recheckInterval: storeCheckInterval,
		check: s.store.CheckHasKeysInUse, isOptional: true, logsItself: true})
	if s.buildID != "" {
		s.health.addCondition(&readinessCondition{
			name: "version", recheckInterval: buildCheckInterval, check: s.checkCurrentBuild, isOptional: true,
		})
	}
}

// drainAll stops polling and waits for running work; work that has not ended in time is left to another worker. It does
// not wait for a tool that ignores the end of its context.
func (s *service) drainAll(interrupt chan any, workerEnded <-chan error) error {
	s.health.setPhase(phaseDraining)
	s.log.Info("draining", "longest", s.drainTimeout.String())
	close(interrupt)
	timer := time.NewTimer(s.drainTimeout + stopGracePeriod)
	defer timer.Stop()
	select {
	case err := <-workerEnded:
		if err != nil {
			return fmt.Errorf("run worker: %w", err)
		}
		s.log.Info("stopped")
	case <-timer.C:
		s.log.Warn("stopped, with work that did not end")
	}
	return nil
}
