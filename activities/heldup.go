package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"processidea/internal/rehearsal"
	"processidea/internal/safego"
	"processidea/llm"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/tools/memory"
)

// This file handles failures before an LLM's first byte. Temporal does the waiting: the activity ends, and is retried
// after a pause, so that it occupies nothing of the worker meanwhile. The process is informed of what the Request waits
// for.

// DefaultLLMPatience is how long Requests are retried by default while an LLM's server is unavailable.
const DefaultLLMPatience = 24 * time.Hour

// maxReasoningOnlyAnswers is how many answers to a Request may be reasoning and nothing else. Each is paid for, and an
// LLM that has given so many will give more.
const maxReasoningOnlyAnswers = 3

// countReasoningOnlyAnswer counts an answer of reasoning only, for the next attempt. After maxReasoningOnlyAnswers the
// error is final.
func countReasoningOnlyAnswer(ctx context.Context, e *llm.Error) *llm.Error {
	n := lastHeartbeatDetails[int](ctx) + 1
	if n < maxReasoningOnlyAnswers {
		activity.RecordHeartbeat(ctx, n)
		return e
	}
	return &llm.Error{Code: turn.CodeLLMError, Message: fmt.Sprintf("%s, %d times: "+
		"let it write more (config.llm.maxTokens), "+
		"or choose one that reasons less, and resume the process", e.Message, n)}
}

// maxUnknownErrorAttempts is how often a Request is tried that fails by a panic, or by an error that is not the LLM
// client's.
const maxUnknownErrorAttempts = 5

// runRequestAttempt makes one attempt at a Request, by makeAttempt, for which it adds the States to the input. The
// error says whether the Request is retried, within the retry policy.
func (a *Activities) runRequestAttempt(ctx context.Context, setup protocol.RequestSetup, input *turn.RequestInput,
	requestStates protocol.RequestStates, makeAttempt func(context.Context) error) error {
	llms := ideafile.ReadLLMs(jsonval.Lookup(setup.Idea, "config", "llm"), "", new(diag.Problems))
	timeout := llms.AnswerTimeout()
	if input.Recheck != nil { // other LLMs may answer a recheck
		timeout = time.Until(activity.GetInfo(ctx).Deadline)
	}
	err := safego.Run("activities.request", func() error {
		defer StartHeartbeats(ctx, lastHeartbeatDetails[int](ctx))() // answers of reasoning only
		ctx, release := a.MemoryBudget.WithReservation(ctx)
		defer release()
		err := memory.Reserve(ctx, estimateRequestBytes(setup, requestStates))
		if err == nil {
			err = a.restoreStates(ctx, setup, input, requestStates)
		}
		if err == nil {
			// What is left of the activity's own time is for reporting that the server is silent.
			limitedCtx, cancel := context.WithTimeoutCause(ctx, timeout, errReplyTookTooLong)
			defer cancel()
			err = makeAttempt(limitedCtx)
		}
		return err
	})
	if err == nil {
		return nil
	}
	var e *llm.Error
	if errors.As(err, &e) && input.Recheck != nil { // nothing waits for a recheck, so that no process is informed
		a.recordFailedRecheck(ctx, input, e)
		return llmError(e)
	}
	if e != nil && e.IsReasoningOnly {
		err = countReasoningOnlyAnswer(ctx, e)
	}
	return a.retryOrFail(ctx, input.RequestNumber, llms.MaxRetryDuration(), err)
}

// recordFailedRecheck records that a recheck got no reply, once it is not tried again: it has taken a place among the
// replies, and a replay would give it the next one.
func (a *Activities) recordFailedRecheck(ctx context.Context, input *turn.RequestInput, e *llm.Error) {
	if a.ReplyRecorder != nil && (!e.IsRetryable || isLastAttempt(activity.GetInfo(ctx))) {
		a.ReplyRecorder(input.ProcessID, input.TurnNumber, e.Message, rehearsal.FinishReasonNoAnswer, "")
	}
}

// errReplyTookTooLong ends the context of an attempt that takes longer than an answer may.
var errReplyTookTooLong = errors.New("the reply took longer than a Request may")

// retryOrFail turns an error of an attempt into one of Temporal's: the Request is retried after a pause while the
// patience lasts, and the process is held up until then. ideaPatience is the Idea's patience; 0: the worker's applies.
func (a *Activities) retryOrFail(ctx context.Context, requestNumber int, ideaPatience time.Duration, err error) error {
	info := activity.GetInfo(ctx)
	a.forgetLLMHoldUps(info.WorkflowExecution.ID) // the process may wait no more
	panicErr := safego.PanicOf(ctx, err)
	var e *llm.Error
	switch {
	case panicErr != nil && info.Attempt >= maxUnknownErrorAttempts:
		return panicError(panicErr, true)
	case panicErr != nil:
		return panicError(panicErr, false)
	case !errors.As(err, &e):
		if info.Attempt >= maxUnknownErrorAttempts && ctx.Err() == nil && !errors.Is(err, activity.ErrResultPending) {
			return nonRetryableError(outcomeOfError(err, turn.CodeLLMError), err)
		}
		return err
	case !e.IsRetryable || ctx.Err() != nil:
		return llmError(e)
	}
	retryError := *e
	retryError.RetryAfter = cmp.Or(e.RetryAfter, a.LLMRetryDelays.DelayAfter(int(info.Attempt)))
	holdUp := turn.HoldUp{CauseCode: e.Code, Message: e.Message, Remedy: e.Remedy}
	patience := cmp.Or(ideaPatience, a.LLMPatience, DefaultLLMPatience)
	if !holdUp.ScheduleRetry(info.ScheduledTime, time.Now(), retryError.RetryAfter, patience) {
		retryError.IsRetryable = false
		retryError.Message = fmt.Sprintf("%s; after %s the patience (config.llm.patience) was over", e.Message,
			patience)
		if info.Attempt == 1 { // the wait alone is too long
			retryError.Message = fmt.Sprintf("%s; it would be asked again in %s, after the patience of %s "+
				"(config.llm.patience)", e.Message,
				max(retryError.RetryAfter.Round(time.Second), time.Second), patience)
		}
		return llmError(&retryError)
	}
	// A Request that is held back is logged once, and not at all if it waits for its turn for a moment.
	if !e.IsHeldBack || info.Attempt == 1 && retryError.RetryAfter >= minReportedWait {
		activity.GetLogger(ctx).Warn("the LLM cannot answer now; the Request waits",
			"process", info.WorkflowExecution.ID, "request", requestNumber,
			"error", e.Message, "again", holdUp.NextAttempt, "until", holdUp.PauseAt)
	}
	a.reportRequestHoldUp(ctx, protocol.RequestHoldUpSignal{RequestNumber: requestNumber, HoldUp: &holdUp})
	return llmError(&retryError)
}

// reportRequestResumed informs the process that a Request which has waited goes on.
func (a *Activities) reportRequestResumed(ctx context.Context, requestNumber int) {
	if info := activity.GetInfo(ctx); info.Attempt > 1 {
		activity.GetLogger(ctx).Info("the LLM answers; the Request goes on",
			"process", info.WorkflowExecution.ID, "request", requestNumber)
		a.reportRequestHoldUp(ctx, protocol.RequestHoldUpSignal{RequestNumber: requestNumber})
	}
}

// reportResumedAfterHoldUp calls reportRequestResumed if the attempt before has reported that the process is held up: a
// batch is polled repeatedly although nothing is wrong.
func (a *Activities) reportResumedAfterHoldUp(ctx context.Context, requestNumber int) {
	if lastHeartbeatDetails[bool](ctx) {
		activity.RecordHeartbeat(ctx, false)
		a.reportRequestResumed(ctx, requestNumber)
	}
}

// holdUpMargin is the time allowed for an attempt before a process no longer counts as held up: another worker may have
// made the attempt.
const holdUpMargin = time.Minute

// reportRequestHoldUp informs the process of what it waits for. If the signal does not arrive, the Request waits all
// the same.
func (a *Activities) reportRequestHoldUp(ctx context.Context, s protocol.RequestHoldUpSignal) {
	if s.RequestNumber == 0 {
		return
	}
	execution := activity.GetInfo(ctx).WorkflowExecution
	if a.HoldUpRecorder != nil && s.HoldUp != nil {
		a.HoldUpRecorder.RecordHoldUp(execution.ID, s.HoldUp.CauseCode, s.HoldUp.NextAttempt.Add(holdUpMargin))
	} else {
		a.forgetLLMHoldUps(execution.ID)
	}
	a.signalProcess(ctx, execution.ID, execution.RunID, protocol.SignalRequestHoldUp, s)
}

// forgetLLMHoldUps records that the process waits for no LLM's server.
func (a *Activities) forgetLLMHoldUps(processID string) {
	if a.HoldUpRecorder != nil {
		a.HoldUpRecorder.ForgetHoldUp(processID, turn.CodeLLMUnreachable)
		a.HoldUpRecorder.ForgetHoldUp(processID, turn.CodeRateLimited)
	}
}

func (a *Activities) signalProcess(ctx context.Context, processID, runID, signalName string, s any) {
	if err := a.Client.SignalWorkflow(ctx, processID, runID, signalName, s); err != nil {
		activity.GetLogger(ctx).Warn("the process could not be told what it waits for", "error", err)
	}
}
