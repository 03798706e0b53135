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
	askPause          = 250 * time.Millisecond // between two questions to one limit
	askTimeout        = 10 * time.Second
	turnRenewInterval = limit.TurnLease / 3
)

// turns are the requests to the limits that this worker asks, by the limit's name.
type turns struct {
	mu     sync.Mutex
	byName map[string]*turnRequests
}

// turnRequests are this worker's requests to one limit.
type turnRequests struct {
	limit.TurnRequest
	answers   map[string]chan limit.Turn // for the turns that are wanted, by key
	delivered []chan struct{}            // closed when the TurnRequest has arrived
	wake      chan struct{}              // there is something new to ask
	fault     error                      // why the limit could not be asked last; nil: it has answered
}

// grant is the answer to a request for a turn. If the limit cannot be asked, no turn is granted, and fault says why.
type grant struct {
	limit.Turn
	fault error
}

// takeTurn waits for a Call's turn, and returns the function that ends it. If the turn is far away, the error makes the
// Call wait in another activity (AwaitTurn).
func (a *Activities) takeTurn(ctx context.Context, in protocol.ExecuteInput) (end func(), err error) {
	if in.Rate == nil {
		return func() {}, nil
	}
	t, err := a.awaitTurn(ctx, in)
	if err != nil {
		return nil, err
	}
	if !t.IsGranted {
		left := attemptsLeft(activity.GetInfo(ctx))
		return nil, temporal.NewApplicationErrorWithOptions(turnWaitText(in, t), turn.CodeRateLimited,
			temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{left},
				Category: temporal.ApplicationErrorCategoryBenign})
	}
	if err := pause.For(ctx, t.Wait); err != nil { // until it begins
		return nil, err
	}
	lasts, key := in.Rate.MaxConcurrent > 0, turnKey(in.IdempotencyKey())
	end = func() { a.updateTurnRequests(in.Tool, lasts, func(s *turnRequests) { s.endTurn(key) }) }
	if !lasts { // it has begun, and nothing else is counted
		end()
		return func() {}, nil
	}
	a.updateTurnRequests(in.Tool, false, func(s *turnRequests) { s.Holds = append(s.Holds, key) })
	return end, nil
}

// AwaitTurn waits until a Call's turn is near; the Call then takes the turn. In a long queue the activity fails, and is
// retried when it may be the Call's turn. Meanwhile it informs the process.
func (a *Activities) AwaitTurn(ctx context.Context, in protocol.ExecuteInput) error {
	t, err := a.awaitTurn(ctx, in)
	if err != nil {
		return err
	}
	if t.IsGranted {
		a.reportCallWait(ctx, &a.turnWaits, turn.CodeRateLimited, in, nil)
		return nil
	}
	now, since := time.Now(), activity.GetInfo(ctx).ScheduledTime
	if t.Wait >= minReportedWait || now.Sub(since) >= minReportedWait {
		a.reportCallWait(ctx, &a.turnWaits, turn.CodeRateLimited, in, &turn.HeldUp{Cause: turn.CodeRateLimited,
			Since: since, Next: now.Add(max(t.Wait, minReportedWait)), Message: turnWaitText(in, t),
			Remedy: t.mend("it goes on by itself; a higher `_rate` is for new processes only")})
	}
	return temporal.NewApplicationErrorWithOptions(turnWaitText(in, t), turn.CodeRateLimited,
		temporal.ApplicationErrorOptions{NextRetryDelay: t.Wait, Category: temporal.ApplicationErrorCategoryBenign})
}

func turnWaitText(in protocol.ExecuteInput, t grant) string {
	why := fmt.Sprintf("its Tool %s may run %s in all processes (_rate)", in.Tool, in.Rate)
	if t.fault != nil {
		why += ", and whose turn it is cannot be asked: " + t.fault.Error()
	}
	return fmt.Sprintf("Call %s waits for its turn: %s; the next try is in %s", in.Call, why,
		t.Wait.Round(time.Second/10))
}

// mend returns the remedy if no turn is granted: usual, if the limit can be asked.
func (g grant) mend(usual string) string {
	if g.fault != nil {
		return "it goes on once this worker may start workflows in its namespace, and send them Updates"
	}
	return usual
}

// turnKey names a turn, and does not reveal whose it is.
func turnKey(of string) string { return jsonval.Digest(of)[:24] }

func (a *Activities) awaitTurn(ctx context.Context, in protocol.ExecuteInput) (grant, error) {
	patience := time.Until(activity.GetInfo(ctx).Deadline) / 4 // the Tool has the rest
	return a.awaitGrant(ctx, in.Tool, *in.Rate, turnKey(in.IdempotencyKey()), 1, patience)
}

// awaitGrant waits until a turn is granted, unless the turn is far away.
func (a *Activities) awaitGrant(ctx context.Context, name string, rule limit.Rule, key string, cost float64,
	patience time.Duration) (t grant, err error) {
	answer, level := make(chan limit.Turn, 1), 0
	if activity.IsActivity(ctx) {
		level = activity.GetInfo(ctx).Priority.PriorityKey
	}
	a.updateTurnRequests(name, true, func(s *turnRequests) {
		s.Rule, s.Wants, s.Costs, s.answers[key] = rule, append(s.Wants, key), append(s.Costs, cost), answer
		s.Levels = append(s.Levels, level)
	})
	patience = min(patience, askTimeout)
	over := time.NewTimer(patience)
	defer over.Stop()
	select {
	case t.Turn = <-answer:
	case <-over.C:
		a.updateTurnRequests(name, false, func(s *turnRequests) { s.withdraw(key); t.fault = s.fault })
		t.Wait = limit.MaxStay
		return t, nil
	case <-ctx.Done():
		a.updateTurnRequests(name, true, func(s *turnRequests) { s.withdraw(key); s.endTurn(key) })
		return t, ctx.Err()
	}
	t.IsGranted = t.IsGranted && t.Wait <= patience
	return t, nil
}

// updateTurnRequests changes the requests to a limit, and has them sent: at once, or together with the next ones.
func (a *Activities) updateTurnRequests(name string, atOnce bool, change func(*turnRequests)) {
	t := &a.turns
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.byName[name]
	if s == nil {
		if t.byName == nil {
			t.byName = map[string]*turnRequests{}
		}
		s = &turnRequests{answers: map[string]chan limit.Turn{}, wake: make(chan struct{}, 1)}
		t.byName[name] = s
		safego.Go("activities.turns", func() error { a.askForTurns(name, s); return nil }, func(err error) {
			if err != nil { // the next caller starts another goroutine
				t.forgetLimit(name)
			}
		})
	}
	change(s)
	if atOnce {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

func (t *turns) forgetLimit(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byName, name)
}

func (s *turnRequests) withdraw(key string) {
	delete(s.answers, key)
	if n := slices.Index(s.Wants, key); n >= 0 {
		s.Wants, s.Costs = slices.Delete(s.Wants, n, n+1), slices.Delete(s.Costs, n, n+1)
		s.Levels = slices.Delete(s.Levels, n, n+1)
	}
}

func (s *turnRequests) endTurn(key string) {
	s.Holds = slices.DeleteFunc(s.Holds, func(k string) bool { return k == key })
	s.Done = append(s.Done, key)
}

// askForTurns sends a limit this worker's requests as long as there are any.
func (a *Activities) askForTurns(name string, s *turnRequests) {
	for {
		a.turns.mu.Lock()
		q := s.TurnRequest
		q.Wants, q.Holds = slices.Clone(q.Wants), slices.Clone(q.Holds)
		q.Costs, q.Levels = slices.Clone(q.Costs), slices.Clone(q.Levels)
		delivered := s.delivered
		s.Done, s.Spent, s.delivered = nil, 0, nil
		select {
		case <-s.wake: // it was for this request
		default:
		}
		if len(q.Wants)+len(q.Holds)+len(q.Done) == 0 && q.Spent == 0 {
			delete(a.turns.byName, name)
			a.turns.mu.Unlock()
			return
		}
		a.turns.mu.Unlock()
		answers, err := a.askLimit(name, q)
		wait := a.turns.handOutAnswers(name, s, q, delivered, answers, err)
		<-time.After(askPause) // requests that come meanwhile are sent together
		select {
		case <-s.wake:
		case <-time.After(wait - askPause):
		}
	}
}

// handOutAnswers hands out a limit's answers, and returns after how long to ask again if nothing else happens.
func (t *turns) handOutAnswers(name string, s *turnRequests, q limit.TurnRequest, delivered []chan struct{},
	answers []limit.Turn, err error) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && len(answers) != len(q.Wants) {
		err = fmt.Errorf("it answers %d of %d", len(answers), len(q.Wants))
	}
	if err != nil && s.fault == nil {
		slog.Warn("a limit that workers share cannot be asked: what it is for waits", "limit", name, "error", err)
	}
	if s.fault = err; err != nil {
		s.Done, s.Spent, s.delivered = append(q.Done, s.Done...), s.Spent+q.Spent, append(delivered, s.delivered...)
		return time.Second
	}
	for _, h := range delivered {
		close(h)
	}
	wait = turnRenewInterval
	for n, key := range q.Wants {
		if answer := answers[n]; !answer.IsGranted && answer.Wait <= limit.MaxStay {
			wait = min(wait, answer.Wait)
		} else if to := s.answers[key]; to != nil {
			to <- answer
			s.withdraw(key)
		}
	}
	return wait
}

// askLimit asks the workflow of a limit, and starts it if it does not run.
func (a *Activities) askLimit(name string, q limit.TurnRequest) (answers []limit.Turn, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	start := a.Client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID: protocol.LimitID(name), TaskQueue: protocol.TaskQueue, Priority: temporal.Priority{PriorityKey: 1},
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, protocol.LimitType, limit.Queue{})
	handle, err := a.Client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start, UpdateOptions: client.UpdateWorkflowOptions{UpdateName: protocol.UpdateTurns,
			WaitForStage: client.WorkflowUpdateStageCompleted, Args: []any{q}},
	})
	if err == nil {
		err = handle.Get(ctx, &answers)
	}
	return answers, err
}

// sharedRate is a limit that all workers keep together.
type sharedRate struct {
	a    *Activities
	name string
}

// SharedRate returns the limit of what the Requests of all workers use in a second. No Tool may have its name.
func (a *Activities) SharedRate(name string) llm.SharedRate { return sharedRate{a, name} }

// Wait waits until a Request may be sent, for half of the time that it has.
func (s sharedRate) Wait(ctx context.Context, key string, perSecond float64, uses int) (away time.Duration, err error) {
	patience := askTimeout
	if deadline, ok := ctx.Deadline(); ok {
		patience = time.Until(deadline) / 2
	}
	key = turnKey(key)
	t, err := s.a.awaitGrant(ctx, s.name, limit.Rule{PerSecond: perSecond}, key, float64(uses), patience)
	if err != nil || !t.IsGranted {
		return t.Wait, err
	}
	s.a.updateTurnRequests(s.name, false, func(asked *turnRequests) { asked.endTurn(key) })
	return 0, pause.For(ctx, t.Wait)
}

// Spend charges what a Request used beyond its estimate.
func (s sharedRate) Spend(perSecond float64, more int) {
	s.a.updateTurnRequests(s.name, true, func(asked *turnRequests) {
		asked.Rule.PerSecond, asked.Spent = perSecond, asked.Spent+float64(more)
	})
}
