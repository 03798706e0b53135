package client

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"

	"processidea/client/internal/kind"
	"processidea/internal/pause"
)

const (
	pollInterval = 300 * time.Millisecond
	// maxServerSilence is how long a server may stay silent before it counts as unreachable.
	maxServerSilence = 15 * time.Second
	// workerGracePeriod is how long a worker may take to answer.
	workerGracePeriod = 5 * time.Second
)

// isNotFound reports whether the server has no such workflow, or no open one for a signal.
func isNotFound(err error) bool { return kind.Is[*serviceerror.NotFound](err) }

// isInvalidArgument reports whether the server rejects the request's arguments.
func isInvalidArgument(err error) bool { return kind.Is[*serviceerror.InvalidArgument](err) }

// signal sends a signal; isDelivered is false if no open workflow has the id.
func (c *Client) signal(ctx context.Context, workflowID, signalName string,
	payload map[string]any) (isDelivered bool, err error) {
	addSenderAccount(ctx, payload)
	err = c.temporal.SignalWorkflow(ctx, workflowID, "", signalName, payload)
	switch {
	case isNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("signal %s: %w", workflowID, err)
	}
	return true, nil
}

// pollUntilDone calls ask repeatedly until it is done. If nothing answers, it goes on as long as the server is
// reachable, and calls OnNoWorker once: a signal takes effect when a worker is back.
func (p *Process) pollUntilDone(ctx context.Context, poll func() (done bool, err error)) error {
	lastAnswerAt, hasNotified, interval := time.Now(), false, 20*time.Millisecond
	for {
		done, err := poll()
		switch {
		case done:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("wait for %s: %w", p.id, ctx.Err())
		case err == nil:
			lastAnswerAt = time.Now()
		default:
			healthErr := p.client.checkHealth(ctx)
			if healthErr != nil && time.Since(lastAnswerAt) > maxServerSilence {
				return kind.Errorf(ErrUnreachable, "reach %s: %w", p.id, healthErr)
			}
			if healthErr == nil && !hasNotified && time.Since(lastAnswerAt) > workerGracePeriod {
				hasNotified = true
				p.client.notifyNoWorker(p.id, err)
			}
		}
		Sleep(ctx, interval)
		interval = min(2*interval, pollInterval)
	}
}

func (c *Client) notifyNoWorker(processID string, cause error) {
	if c.onNoWorker != nil {
		c.onNoWorker(processID, cause)
	}
}

// Sleep waits for a while, or until the context ends.
func Sleep(ctx context.Context, d time.Duration) {
	_ = pause.For(ctx, d)
}
