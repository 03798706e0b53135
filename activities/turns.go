package activities

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"processidea/internal/pause"
	"processidea/internal/safego"
	"processidea/llm"
	"processidea/model/ideafile/limit"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/protocol"
)

// This file asks for the turns of Calls whose Tool has a limit (`_rate`). A limit is a workflow; a worker asks it for
// all its Calls together, a few times a second, however many wait.

const (
	askLimitInterval       = 250 * time.Millisecond // between two questions to one limit
	askLimitTimeout        = 10 * time.Second
	limitTurnRenewInterval = limit.TurnLease / 3
)

// rateLimitTurns are the requests to the limits that this worker asks, by the limit's name.
type rateLimitTurns struct {
	mu              sync.Mutex
	requestsByLimit map[string]*limitTurnRequests
}

// limitTurnRequests are this worker's requests to one limit.
type limitTurnRequests struct {
	limit.TurnRequest
	answerChannelByKey      map[string]chan limit.TurnAnswer // for the turns that are wanted, by key
	requestReceivedChannels []chan struct{}                  // closed when the TurnRequest has arrived
	wakeChannel             chan struct{}                    // there is something new to ask
	// why the limit could not be asked last; nil: it has answered
	err error
}

// limitTurnGrant is the answer to a request for a turn. If the limit cannot be asked, no turn is granted, and err says
// why.
type limitTurnGrant struct {
	limit.TurnAnswer
	err error
}

// acquireLimitTurn waits for a Call's turn, and returns the function that ends it. If the turn is far away, the error
// makes the Call wait in another activity (AwaitTurn).
func (a *Activities) acquireLimitTurn(ctx context.Context, in protocol.ExecuteInput) (endTurn func(), err error) {
	if in.RateLimit == nil {
		return func() {}, nil
	}
	t, err := a.awaitToolTurn(ctx, in)
	if err != nil {
		return nil, err
	}
	if !t.IsGranted {
		remaining := remainingAttempts(activity.GetInfo(ctx))
		return nil, temporal.NewApplicationErrorWithOptions(limitTurnWaitText(in, t), turn.CodeRateLimited,
			temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{remaining},
				Category: temporal.ApplicationErrorCategoryBenign})
	}
	if err := pause.For(ctx, t.Wait); err != nil { // until it begins
		return nil, err
	}
	holdsTurn, key := in.RateLimit.MaxConcurrentTurns > 0, limitTurnKey(in.IdempotencyKey())
	endTurn = func() { a.updateLimitTurnRequests(in.Tool, holdsTurn, func(s *limitTurnRequests) { s.endTurn(key) }) }
	if !holdsTurn { // it has begun, and nothing else is counted
		endTurn()
		return func() {}, nil
	}
	a.updateLimitTurnRequests(in.Tool, false, func(s *limitTurnRequests) { s.HeldKeys = append(s.HeldKeys, key) })
	return endTurn, nil
}

// AwaitTurn waits until a Call's turn is near; the Call then takes the turn. In a long queue the activity fails, and is
// retried when it may be the Call's turn. Meanwhile it informs the process.
func (a *Activities) AwaitTurn(ctx context.Context, in protocol.ExecuteInput) error {
	t, err := a.awaitToolTurn(ctx, in)
	if err != nil {
		return err
	}
	if t.IsGranted {
		a.reportCallHoldUp(ctx, &a.limitTurnHoldUps, turn.CodeRateLimited, in, nil)
		return nil
	}
	now, scheduledAt := time.Now(), activity.GetInfo(ctx).ScheduledTime
	if t.Wait >= minReportedWait || now.Sub(scheduledAt) >= minReportedWait {
		holdUp := &turn.HoldUp{CauseCode: turn.CodeRateLimited, Since: scheduledAt,
			NextAttempt: now.Add(max(t.Wait, minReportedWait)), Message: limitTurnWaitText(in, t),
			Remedy: t.remedy("it goes on by itself; a higher `_rate` is for new processes only")}
		if a.reportCallHoldUp(ctx, &a.limitTurnHoldUps, turn.CodeRateLimited, in, holdUp) {
			activity.GetLogger(ctx).Warn("the Call waits for its turn", "process", in.ProcessID, "instance",
				in.InstanceToken,
				"call", in.CallID, "tool", in.Tool, "reason", holdUp.Message, "again", holdUp.NextAttempt)
		}
	}
	return temporal.NewApplicationErrorWithOptions(limitTurnWaitText(in, t), turn.CodeRateLimited,
		temporal.ApplicationErrorOptions{NextRetryDelay: t.Wait, Category: temporal.ApplicationErrorCategoryBenign})
}

func limitTurnWaitText(in protocol.ExecuteInput, t limitTurnGrant) string {
	reason := fmt.Sprintf("its Tool %s may run %s in all processes (_rate)", in.Tool, in.RateLimit)
	if t.err != nil {
		reason += ", and whose turn it is cannot be asked: " + t.err.Error()
	}
	return fmt.Sprintf("Call %s waits for its turn: %s; the next try is in %s", in.CallID, reason,
		t.Wait.Round(time.Second/10))
}

// remedy returns the remedy if no turn is granted: usualRemedy, if the limit can be asked.
func (g limitTurnGrant) remedy(usualRemedy string) string {
	if g.err != nil {
		return "it goes on once this worker may start workflows in its namespace, and send them Updates"
	}
	return usualRemedy
}

// limitTurnKey names a turn, and does not reveal whose it is.
func limitTurnKey(idempotencyKey string) string { return jsonval.Digest(idempotencyKey)[:24] }

func (a *Activities) awaitToolTurn(ctx context.Context, in protocol.ExecuteInput) (limitTurnGrant, error) {
	patience := time.Until(activity.GetInfo(ctx).Deadline) / 4 // the Tool has the rest
	return a.awaitLimitTurn(ctx, in.Tool, *in.RateLimit, limitTurnKey(in.IdempotencyKey()), 1, patience)
}

// awaitLimitTurn waits until a turn is granted, unless the turn is far away.
func (a *Activities) awaitLimitTurn(ctx context.Context, limitName string, rule limit.Rule, key string, amount float64,
	patience time.Duration) (t limitTurnGrant, err error) {
	answerChannel, priority := make(chan limit.TurnAnswer, 1), 0
	if activity.IsActivity(ctx) {
		priority = activity.GetInfo(ctx).Priority.PriorityKey
	}
	a.updateLimitTurnRequests(limitName, true, func(s *limitTurnRequests) {
		s.Rule, s.WantedKeys, s.WantedCosts, s.answerChannelByKey[key] = rule, append(s.WantedKeys, key),
			append(s.WantedCosts, amount), answerChannel
		s.PriorityLevels = append(s.PriorityLevels, priority)
	})
	patience = min(patience, askLimitTimeout)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case t.TurnAnswer = <-answerChannel:
	case <-timer.C:
		a.updateLimitTurnRequests(limitName, false, func(s *limitTurnRequests) { s.withdrawTurn(key); t.err = s.err })
		t.Wait = limit.MaxPollingWait
		return t, nil
	case <-ctx.Done():
		a.updateLimitTurnRequests(limitName, true, func(s *limitTurnRequests) { s.withdrawTurn(key); s.endTurn(key) })
		return t, ctx.Err()
	}
	t.IsGranted = t.IsGranted && t.Wait <= patience
	return t, nil
}

// updateLimitTurnRequests changes the requests to a limit, and has them sent: at once, or together with the next ones.
func (a *Activities) updateLimitTurnRequests(limitName string, shouldSendNow bool, change func(*limitTurnRequests)) {
	turns := &a.rateLimitTurns
	turns.mu.Lock()
	defer turns.mu.Unlock()
	requests := turns.requestsByLimit[limitName]
	if requests == nil {
		if turns.requestsByLimit == nil {
			turns.requestsByLimit = map[string]*limitTurnRequests{}
		}
		requests = &limitTurnRequests{answerChannelByKey: map[string]chan limit.TurnAnswer{},
			wakeChannel: make(chan struct{}, 1)}
		turns.requestsByLimit[limitName] = requests
		safego.Go("activities.turns", func() error { a.askForLimitTurns(limitName, requests); return nil },
			func(err error) {
				if err != nil { // the next caller starts another goroutine
					turns.forgetLimit(limitName)
				}
			})
	}
	change(requests)
	if shouldSendNow {
		select {
		case requests.wakeChannel <- struct{}{}:
		default:
		}
	}
}

func (t *rateLimitTurns) forgetLimit(limitName string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.requestsByLimit, limitName)
}

func (s *limitTurnRequests) withdrawTurn(key string) {
	delete(s.answerChannelByKey, key)
	if n := slices.Index(s.WantedKeys, key); n >= 0 {
		s.WantedKeys, s.WantedCosts = slices.Delete(s.WantedKeys, n, n+1), slices.Delete(s.WantedCosts, n, n+1)
		s.PriorityLevels = slices.Delete(s.PriorityLevels, n, n+1)
	}
}

func (s *limitTurnRequests) endTurn(key string) {
	s.HeldKeys = slices.DeleteFunc(s.HeldKeys, func(k string) bool { return k == key })
	s.DoneKeys = append(s.DoneKeys, key)
}

// askForLimitTurns sends a limit this worker's requests as long as there are any.
func (a *Activities) askForLimitTurns(limitName string, requests *limitTurnRequests) {
	for {
		a.rateLimitTurns.mu.Lock()
		q := requests.TurnRequest
		q.WantedKeys, q.HeldKeys = slices.Clone(q.WantedKeys), slices.Clone(q.HeldKeys)
		q.WantedCosts, q.PriorityLevels = slices.Clone(q.WantedCosts), slices.Clone(q.PriorityLevels)
		requestReceivedChannels := requests.requestReceivedChannels
		requests.DoneKeys, requests.ExtraSpentCost, requests.requestReceivedChannels = nil, 0, nil
		select {
		case <-requests.wakeChannel: // it was for this request
		default:
		}
		if len(q.WantedKeys)+len(q.HeldKeys)+len(q.DoneKeys) == 0 && q.ExtraSpentCost == 0 {
			delete(a.rateLimitTurns.requestsByLimit, limitName)
			a.rateLimitTurns.mu.Unlock()
			return
		}
		a.rateLimitTurns.mu.Unlock()
		answers, err := a.askLimit(limitName, q)
		wait := a.rateLimitTurns.deliverAnswers(limitName, requests, q, requestReceivedChannels, answers, err)
		<-time.After(askLimitInterval) // requests that come meanwhile are sent together
		select {
		case <-requests.wakeChannel:
		case <-time.After(wait - askLimitInterval):
		}
	}
}

// deliverAnswers hands out a limit's answers, and returns after how long to ask again if nothing else happens.
func (t *rateLimitTurns) deliverAnswers(limitName string, s *limitTurnRequests, q limit.TurnRequest,
	requestReceivedChannels []chan struct{}, answers []limit.TurnAnswer, err error) (nextAskDelay time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && len(answers) != len(q.WantedKeys) {
		err = fmt.Errorf("it answers %d of %d", len(answers), len(q.WantedKeys))
	}
	if err != nil && s.err == nil {
		slog.Warn("a limit that workers share cannot be asked: what it is for waits", "limit", limitName, "error", err)
	}
	if s.err = err; err != nil {
		s.DoneKeys, s.ExtraSpentCost, s.requestReceivedChannels = append(q.DoneKeys, s.DoneKeys...),
			s.ExtraSpentCost+q.ExtraSpentCost,
			append(requestReceivedChannels, s.requestReceivedChannels...)
		return time.Second
	}
	for _, requestReceived := range requestReceivedChannels {
		close(requestReceived)
	}
	nextAskDelay = limitTurnRenewInterval
	for n, key := range q.WantedKeys {
		if answer := answers[n]; !answer.IsGranted && answer.Wait <= limit.MaxPollingWait {
			nextAskDelay = min(nextAskDelay, answer.Wait)
		} else if answerChannel := s.answerChannelByKey[key]; answerChannel != nil {
			answerChannel <- answer
			s.withdrawTurn(key)
		}
	}
	return nextAskDelay
}

// askLimit asks the workflow of a limit, and starts it if it does not run.
func (a *Activities) askLimit(limitName string, q limit.TurnRequest) (answers []limit.TurnAnswer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), askLimitTimeout)
	defer cancel()
	start := a.Client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID: protocol.LimitWorkflowID(limitName), TaskQueue: protocol.TaskQueue,
		Priority:                 temporal.Priority{PriorityKey: 1},
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, protocol.LimitType, limit.Queue{})
	handle, err := a.Client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{UpdateName: protocol.UpdateLimitTurns,
			WaitForStage: client.WorkflowUpdateStageCompleted, Args: []any{q}},
	})
	if err == nil {
		err = handle.Get(ctx, &answers)
	}
	return answers, err
}

// sharedRate is a limit that all workers keep together.
type sharedRate struct {
	activities *Activities
	limitName  string
}

// SharedRate returns the limit of what the Requests of all workers use in a second. No Tool may have its name.
func (a *Activities) SharedRate(limitName string) llm.SharedRateLimit {
	return sharedRate{a, limitName}
}

// Wait waits until a Request may be sent, for half of the time that it has.
func (s sharedRate) Wait(ctx context.Context, key string, perSecond float64,
	tokenCount int) (wait time.Duration, err error) {
	patience := askLimitTimeout
	if deadline, ok := ctx.Deadline(); ok {
		patience = time.Until(deadline) / 2
	}
	key = limitTurnKey(key)
	t, err := s.activities.awaitLimitTurn(ctx, s.limitName, limit.Rule{TurnsPerSecond: perSecond}, key,
		float64(tokenCount), patience)
	if err != nil || !t.IsGranted {
		return t.Wait, err
	}
	s.activities.updateLimitTurnRequests(s.limitName, false,
		func(requests *limitTurnRequests) { requests.endTurn(key) })
	return 0, pause.For(ctx, t.Wait)
}

// Spend charges what a Request used beyond its estimate.
func (s sharedRate) Spend(perSecond float64, extraTokens int) {
	s.activities.updateLimitTurnRequests(s.limitName, true, func(requests *limitTurnRequests) {
		requests.Rule.TurnsPerSecond, requests.ExtraSpentCost = perSecond, requests.ExtraSpentCost+float64(extraTokens)
	})
}
