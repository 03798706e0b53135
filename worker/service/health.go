package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"processidea/internal/pause"
)

// workerPhase is the phase of a worker's life, or what it waits for before it works.
type workerPhase string

const (
	phaseStarting workerPhase = "starting"
	phaseWorking  workerPhase = "working"
	phaseDraining workerPhase = "draining"
)

// health keeps whether the worker is ready.
type health struct {
	mu         sync.Mutex
	phase      workerPhase
	conditions []*readinessCondition
}

// readinessCondition is one requirement of being ready. Its check is repeated only after a while, so that probes are
// cheap however often they come.
type readinessCondition struct {
	name            string
	recheckInterval time.Duration
	check           func(context.Context) error
	// isOptional: the worker is ready without it, but reports it.
	isOptional bool
	// logsItself: the condition logs its own changes, so that watch does not.
	logsItself bool

	mu        sync.Mutex
	checkedAt time.Time
	err       error
}

func newHealth() *health { return &health{phase: phaseStarting} }

func (h *health) setPhase(p workerPhase) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.phase = p
}

func (h *health) addCondition(c *readinessCondition) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conditions = append(h.conditions, c)
}

// failedConditions returns whether the worker is ready, and the failed conditions, even those that do not affect
// readiness.
func (h *health) failedConditions(ctx context.Context) (isReady bool, failures []string) {
	h.mu.Lock()
	currentPhase, conditions := h.phase, h.conditions
	h.mu.Unlock()
	if currentPhase != phaseWorking {
		return false, []string{string(currentPhase)}
	}
	isReady = true
	for _, c := range conditions {
		if err := c.checkCached(ctx); err != nil {
			failures, isReady = append(failures, c.name+": "+err.Error()), isReady && c.isOptional
		}
	}
	return isReady, failures
}

// conditionCheckInterval is the pause between two looks at the conditions.
const conditionCheckInterval = 5 * time.Second

// watchAndLog logs the conditions that have failed failuresBeforeReport times in a row, and those of them that are met
// again.
func (h *health) watchAndLog(ctx context.Context, log *slog.Logger) {
	failureCountByCondition := map[string]int{}
	for pause.For(ctx, conditionCheckInterval) == nil {
		h.logChanges(ctx, log, failureCountByCondition)
	}
}

// logChanges logs the changes. failureCountByCondition counts the failures in a row of each condition.
func (h *health) logChanges(ctx context.Context, log *slog.Logger, failureCountByCondition map[string]int) {
	h.mu.Lock()
	currentPhase, conditions := h.phase, h.conditions
	h.mu.Unlock()
	for _, c := range conditions {
		err := c.checkCached(ctx)
		switch {
		case currentPhase != phaseWorking || c.logsItself:
		case err != nil:
			if failureCountByCondition[c.name]++; failureCountByCondition[c.name] == failuresBeforeReport {
				log.Warn(c.name+": this worker is held up", "error", err)
			}
		case failureCountByCondition[c.name] >= failuresBeforeReport:
			failureCountByCondition[c.name] = 0
			log.Info(c.name + ": this worker is held up no more")
		default:
			failureCountByCondition[c.name] = 0
		}
	}
}

// failuresBeforeReport is the number of failures in a row after which a condition is reported.
const failuresBeforeReport = 2

// conditionCheckTimeout bounds one check.
const conditionCheckTimeout = 2 * time.Second

func (c *readinessCondition) checkCached(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.checkedAt.IsZero() || time.Since(c.checkedAt) >= c.recheckInterval {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), conditionCheckTimeout)
		defer cancel()
		c.err, c.checkedAt = c.check(ctx), time.Now()
	}
	return c.err
}

// checkTemporal checks that Temporal answers.
func (s *service) checkTemporal(ctx context.Context) error {
	if _, err := s.client.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return fmt.Errorf("it does not answer: %w", err)
	}
	return nil
}

// storeCheckInterval is how often the store is checked, which costs money if it is a bucket.
const storeCheckInterval = 15 * time.Second

// buildCheckInterval is how often the worker asks which build is current.
const buildCheckInterval = 30 * time.Second

// checkCurrentBuild checks that new work goes to this build. It passes if the deployment does not exist yet.
func (s *service) checkCurrentBuild(ctx context.Context) error {
	deploymentHandle := s.client.WorkerDeploymentClient().GetHandle(s.deploymentName)
	d, err := deploymentHandle.Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	var notFound *serviceerror.NotFound
	if errors.As(err, &notFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the current build is unknown: %w", err)
	}
	routing, currentBuildText := d.Info.RoutingConfig, "none is"
	if v := routing.CurrentVersion; v != nil {
		currentBuildText = v.BuildID + " is"
		if v.BuildID == s.buildID {
			return nil
		}
	}
	if v := routing.RampingVersion; v != nil && v.BuildID == s.buildID {
		return nil
	}
	return fmt.Errorf("build %s of deployment %s is not current (%s): it gets no new processes until it is",
		s.buildID, s.deploymentName, currentBuildText)
}
