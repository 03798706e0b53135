package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "go.temporal.io/sdk/client"

	"processidea/internal/safego"
	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
	"processidea/protocol"
)

const (
	queryTimeout = 3 * time.Second
	// slowQueryTimeout is for processes that have ended: a worker reads their whole history to answer.
	slowQueryTimeout = time.Minute
	// maxConcurrentQueries bounds how many workflows are queried at the same time.
	maxConcurrentQueries = 16
)

// Status is the current status of a process: the fields of loop.Result without States (Status, Output, Instances,
// Calls, Usage, Error, …), and what it waits for: PendingDecisionCount, WaitingFor, Refusals and Parts.
type Status = protocol.ProcessView

// InstanceStatus is the status of one instance: its State, and the outcome of each of its Calls. Large values of the
// State are references to the store.
type InstanceStatus = protocol.InstanceView

// Status queries the status of the process. It needs a worker to answer.
func (p *Process) Status(ctx context.Context) (Status, error) {
	var v Status
	err := p.client.query(ctx, p.id, protocol.QueryStatus, &v)
	if err == nil && v.Status != loop.StatusRunning && v.Status != loop.StatusPaused {
		return v, p.markForgottenInstances(ctx, v.ProcessResult)
	}
	if err == nil && v.Status == loop.StatusRunning && len(v.HoldUps) == 0 && !waitsOnlyForPeople(v) {
		if h := p.client.rateLimitHoldUpCache.holdUp(ctx, p.client); h != nil {
			v.HoldUps, v.WaitingFor = []turn.HoldUp{*h}, append(v.WaitingFor, h.String())
		}
	}
	return v, err
}

// waitsOnlyForPeople reports whether a process waits for decisions only.
func waitsOnlyForPeople(v Status) bool {
	for _, inst := range v.Instances {
		if inst.Status == ideafile.InstanceWorking {
			return false
		}
	}
	return v.PendingDecisionCount > 0
}

// Instances queries every instance, by token, whether the process has ended or not. A forgotten instance only has
// Forgotten.
func (p *Process) Instances(ctx context.Context) (map[string]InstanceStatus, error) {
	var v Status
	if err := p.client.queryWithTimeout(ctx, slowQueryTimeout, p.id, protocol.QueryStatus, &v); err != nil {
		return nil, fmt.Errorf("look at %s: %w", p.id, err)
	}
	forgetRecordByInstance, err := p.Chain().chainStore.ForgottenInstances(ctx, p.id)
	if err != nil {
		return nil, err
	}
	return p.queryInstances(ctx, v, func(ctx context.Context, id string, target *InstanceStatus) error {
		_, token, _ := protocol.ParseInstanceID(id)
		if f, isForgotten := forgetRecordByInstance[token]; isForgotten {
			*target = InstanceStatus{Calls: []protocol.CallView{}, Refusals: []approval.Fate{},
				ForgottenNote: f.String()}
			return nil
		}
		if err := p.client.queryWithTimeout(ctx, slowQueryTimeout, id, protocol.QueryStatus, target); err != nil {
			return fmt.Errorf("look at %s: %w", id, err)
		}
		return nil
	})
}

// queryInstances calls ask for the instances of a Status, with their workflow ids.
func (p *Process) queryInstances(ctx context.Context, v Status,
	queryInstance func(ctx context.Context, id string, target *InstanceStatus) error) (map[string]InstanceStatus,
	error) {
	tokens := jsonval.SortedKeys(v.Instances)
	views := make([]InstanceStatus, len(tokens))
	err := safego.ForEach(ctx, "client.instances", len(tokens), maxConcurrentQueries,
		func(ctx context.Context, n int) error {
			return queryInstance(ctx, v.InstanceID(tokens[n]), &views[n])
		})
	statusByInstance := map[string]InstanceStatus{}
	for n, token := range tokens {
		statusByInstance[token] = views[n]
	}
	return statusByInstance, err
}

// HoldUps returns what holds the process up and nobody in it can repair, as far as the process or Temporal knows.
func (p *Process) HoldUps(ctx context.Context) ([]turn.HoldUp, error) {
	info, err := p.describe(ctx)
	if err != nil || !protocol.IsOpen(info.GetStatus()) {
		return nil, err
	}
	v, err := p.Status(ctx)
	if err == nil {
		return v.HoldUps, nil
	}
	if h := p.client.explainNoAnswer(ctx, p.id, err); h != nil {
		return []turn.HoldUp{*h}, nil
	}
	return nil, err
}

// Snapshot returns the current Result of the process, with every State, without waiting. The State of an instance that
// does not answer is nil. If no worker answers at all, the Result has only the status, and the error wraps ErrNoWorker.
func (p *Process) Snapshot(ctx context.Context) (loop.ProcessResult, error) {
	info, err := p.describe(ctx)
	if err != nil {
		return loop.ProcessResult{}, err
	}
	if !protocol.IsOpen(info.GetStatus()) {
		return p.Result(ctx)
	}
	v, err := p.Status(ctx)
	if err == nil {
		return p.WithStates(ctx, v)
	}
	holdUp, err := p.client.explainUnreachable(ctx, p.id, err)
	if errors.Is(err, ErrUnreachable) {
		return loop.ProcessResult{}, fmt.Errorf("look at %s: %w", p.id, err)
	}
	r := loop.ProcessResult{ProcessID: p.id, Status: statusKnownToTemporal(info),
		Instances: map[string]loop.InstanceResult{}}
	if holdUp != nil {
		r.HoldUps = []turn.HoldUp{*holdUp}
	}
	return r, fmt.Errorf("look at %s: only its status is known: %w", p.id, err)
}

// WithStates adds to a Status the State of every instance, with every value whole. The State is nil for an instance
// that does not answer.
func (p *Process) WithStates(ctx context.Context, v Status) (loop.ProcessResult, error) {
	views, err := p.queryInstances(ctx, v,
		func(ctx context.Context, id string, target *InstanceStatus) error {
			_ = p.client.query(ctx, id, protocol.QueryStatus, target)
			return nil
		})
	if err != nil {
		return loop.ProcessResult{}, fmt.Errorf("look at %s: %w", p.id, err)
	}
	instances := map[string]loop.InstanceResult{}
	for token, i := range v.Instances {
		i.State = views[token].State
		instances[token] = i
	}
	v.ProcessResult.Instances = instances
	return p.restoreResult(ctx, v.ProcessResult)
}

// query queries a workflow and decodes its answer.
func (c *Client) query(ctx context.Context, workflowID, queryName string, result any) error {
	return c.queryWithTimeout(ctx, queryTimeout, workflowID, queryName, result)
}

func (c *Client) queryWithTimeout(
	ctx context.Context, timeout time.Duration, workflowID, queryName string, result any, args ...any,
) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer, err := c.temporal.QueryWorkflow(ctx, workflowID, "", queryName, args...)
	if err != nil {
		return err
	}
	return answer.Get(result)
}

// checkHealth returns why the server does not answer; nil if it does.
func (c *Client) checkHealth(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	_, err := c.temporal.CheckHealth(ctx, &sdk.CheckHealthRequest{})
	return err
}
