package client

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"processidea/client/internal/kind"
	"processidea/model/approval"
	"processidea/protocol"
)

// outcomeUpdateTimeout bounds one Update request, once a worker is known to answer.
const outcomeUpdateTimeout = time.Minute

// errActUnderWay is the error for an act that is not finished, when a stopWaitingFunc stops the wait for it.
var errActUnderWay = errors.New("it is under way")

// signalAndAwaitOutcome sends an act under an id of its own, and waits for its outcome; a refusal is a *RefusedError.
// newEndedError says why nothing handles the act if the workflow has ended before. shouldStopWaiting, which may be nil,
// says of a slow act whether to return errActUnderWay.
func (p *Process) signalAndAwaitOutcome(
	ctx context.Context, workflowID, signalName, callID string, payload map[string]any, newEndedError func() error,
	shouldStopWaiting stopWaitingFunc,
) (VoteCount, error) {
	actID := uuid.NewString()
	actIDKey := "id"
	if approval.IsOrderSignal(signalName) {
		actIDKey = "act"
	}
	payload[actIDKey] = actID
	isDelivered, err := p.client.signal(ctx, workflowID, signalName, payload)
	if err != nil {
		return VoteCount{}, err
	}
	o := approval.ActOutcome{}
	if isDelivered {
		list, err := p.awaitOutcomes(ctx, workflowID, []string{actID}, shouldStopWaiting)
		if err != nil {
			return VoteCount{}, err
		}
		o = list[0]
	}
	switch o.Status {
	case approval.ActAccepted:
		return o.Votes, nil
	case approval.ActRefused:
		return VoteCount{}, &RefusedError{p.id, signalName, callID, o.RefusalReason, o.RefusalCode}
	}
	return VoteCount{}, &RefusedError{p.id, signalName, callID, newEndedError().Error(), ""}
}

// stopWaitingFunc says whether to stop waiting for an act that a workflow has received.
type stopWaitingFunc func(context.Context) bool

// awaitOutcomes asks a workflow what became of acts that were sent to it. It waits until each outcome is known, or
// until shouldStopWaiting, which may be nil, stops it. If a workflow has ended without an outcome for an act, the act
// counts as neither accepted nor refused.
func (p *Process) awaitOutcomes(
	ctx context.Context, workflowID string, actIDs []string, shouldStopWaiting stopWaitingFunc,
) (list []approval.ActOutcome, err error) {
	updateID, timeout := uuid.NewString(), queryTimeout
	var finalErr error
	err = p.pollUntilDone(ctx, func() (bool, error) {
		answer, err := p.client.askOutcomes(ctx, timeout, workflowID, updateID, actIDs)
		var refused *temporal.ApplicationError
		switch {
		case isNotFound(err):
			list, err = p.client.queryEndedWorkflowOutcomes(ctx, workflowID, actIDs)
			return err == nil, err
		case kind.Is[*sdk.WorkflowUpdateServiceTimeoutOrCanceledError](err):
			// No worker has received the question, or the act is slow.
			err = p.client.query(ctx, workflowID, protocol.QueryStatus, new(any))
			switch {
			case err == nil && shouldStopWaiting == nil:
				timeout = outcomeUpdateTimeout
			case err == nil && shouldStopWaiting(ctx):
				finalErr = errActUnderWay
			}
			return finalErr != nil, err
		case errors.As(err, &refused) && refused.Type() != endedBeforeAnswerType:
			finalErr = err
			return true, nil
		case err != nil:
			return false, err
		case slices.ContainsFunc(answer, func(o approval.ActOutcome) bool { return o.Status == approval.ActUnderWay }):
			updateID = uuid.NewString() // for the next run of the workflow
			return false, nil
		}
		list = answer
		return true, nil
	})
	if err == nil {
		err = finalErr
	}
	return list, err
}

// endedBeforeAnswerType is the type of the error of an Update whose workflow ended before it could be answered.
const endedBeforeAnswerType = "AcceptedUpdateCompletedWorkflow"

// askOutcomes asks once; the same question may be repeated until it is answered.
func (c *Client) askOutcomes(
	ctx context.Context, timeout time.Duration, workflowID, updateID string, actIDs []string,
) ([]approval.ActOutcome, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var answer protocol.ActOutcomesAnswer
	handle, err := c.temporal.UpdateWorkflow(ctx, sdk.UpdateWorkflowOptions{
		UpdateID: updateID, WorkflowID: workflowID, UpdateName: protocol.UpdateActOutcomes,
		WaitForStage: sdk.WorkflowUpdateStageCompleted, Args: []any{protocol.ActOutcomesQuestion{ActIDs: actIDs}},
	})
	if err == nil {
		err = handle.Get(ctx, &answer)
	}
	return answer.Outcomes, err
}

// queryEndedWorkflowOutcomes queries a workflow that accepts no Updates because it has ended.
func (c *Client) queryEndedWorkflowOutcomes(ctx context.Context, workflowID string,
	actIDs []string) ([]approval.ActOutcome, error) {
	var answer protocol.ActOutcomesAnswer
	q := protocol.ActOutcomesQuestion{ActIDs: actIDs}
	err := c.queryWithTimeout(ctx, slowQueryTimeout, workflowID, protocol.UpdateActOutcomes, &answer, q)
	if isNotFound(err) { // Temporal has deleted the workflow
		return make([]approval.ActOutcome, len(actIDs)), nil
	}
	return answer.Outcomes, err
}
