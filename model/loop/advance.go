package loop

import (
	"slices"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// Step is what a process does next.
type Step string

// The steps of a process.
const (
	StepRequest  Step = "request" // make the Request that Advance returned
	StepWait     Step = "wait"    // for a reply, a report, or WakeTime
	StepPaused   Step = "paused"  // until a person resumes the process
	StepFinished Step = "finished"
)

// Advance brings the process as far as it can go now and returns what to do next, with the Request to make for StepRequest. The
// order of what it decides stands in the package documentation. WakeTime returns until when StepWait holds.
func (l *Loop) Advance(now time.Time) (Step, *turn.RequestInput) {
	l.wakeTime = time.Time{}
	l.settleDirectPlanInstances()
	l.advanceWiredOutput()
	l.takeDirectPlanOutput()
	if l.Finished() {
		return StepFinished, nil
	}
	if l.pauseReason == nil {
		l.pauseReason = l.checkDurationLimit(now)
	}
	switch {
	case l.pauseReason != nil:
		return StepPaused, nil
	case l.inFlight != nil:
		return StepWait, nil
	}
	due := l.requestDue(now)
	if !due {
		return StepWait, nil
	}
	l.pauseReason = l.reachedLimit()
	if l.pauseReason != nil {
		return StepPaused, nil
	}
	return StepRequest, l.startRequest()
}

func (l *Loop) startRequest() *turn.RequestInput {
	input := l.composeRequest()
	l.inFlight = &llmRequest{input: input, fullInput: l.FullInput(), log: l.TakeLog()}
	l.readySince = time.Time{}
	for _, inst := range l.coveredInstances(input) {
		inst.LastRequest, inst.Idle, inst.DecidedSinceRequest, inst.RevisedSinceRequest = input.Number, input.OutputOnly, false, false
	}
	return input
}

// Finished reports whether nothing is left to do.
func (l *Loop) Finished() bool { return l.inFlight == nil && l.pauseReason == nil && l.goalReached() }

// goalReached reports whether every instance has ended and the output is there, where one is wanted and can be had.
func (l *Loop) goalReached() bool {
	settled := 0
	for _, inst := range l.instances {
		switch inst.Status {
		case ideafile.InstanceSettled:
			settled++
		case ideafile.InstanceFailed:
		default:
			return false
		}
	}
	return l.idea.Output == nil || l.hasOutput || settled == 0 || !l.llmAllowed()
}

// reachedLimit returns the limit that the next Request would break; nil if none.
func (l *Loop) reachedLimit() *diag.Fault {
	if l.limits.Requests > 0 && l.requestCount >= l.limits.Requests {
		return diag.Faultf(turn.CodeLimitReached, "%d Requests were made, the limit", l.requestCount)
	}
	return reachedUsageLimit(l.limits, l.usage, l.Counts())
}

// reachedUsageLimit returns the limit on tokens or on Calls that is reached; nil if none.
func reachedUsageLimit(limits ideafile.Limits, usage turn.Usage, calls turn.CallCounts) *diag.Fault {
	tokens, ended := usage.PromptTokens+usage.CompletionTokens, calls.Total()
	switch {
	case limits.Tokens > 0 && tokens >= limits.Tokens:
		return diag.Faultf(turn.CodeLimitReached, "%d tokens were used; the limit is %d", tokens, limits.Tokens)
	case limits.Calls > 0 && ended >= limits.Calls:
		return diag.Faultf(turn.CodeLimitReached, "%d Calls were made; the limit is %d", ended, limits.Calls)
	}
	return nil
}

// checkDurationLimit returns the time limit where it is reached; else it has Advance called again when it will be.
func (l *Loop) checkDurationLimit(now time.Time) *diag.Fault {
	limit := l.limits.Duration
	if limit <= 0 {
		return nil
	}
	if now.Sub(l.startedAt) >= limit {
		return diag.Faultf(turn.CodeLimitReached, "the process has run for %s, the limit", limit)
	}
	l.wakeAt(l.startedAt.Add(limit))
	return nil
}

// AwaitsOnlyPeople reports whether the process waits for people and for nothing else.
func (l *Loop) AwaitsOnlyPeople() bool {
	running, waiting := l.anyBusyOrAwaitingPerson()
	return waiting && !running && l.inFlight == nil && len(l.readyInstances()) == 0
}

// readyInstances lists the instances that the next Request can be about.
func (l *Loop) readyInstances() []*InstanceProgress {
	var list []*InstanceProgress
	for _, inst := range l.instances {
		if inst.phase() == ready && !l.settlesIfWired(inst) {
			list = append(list, inst)
		}
	}
	return list
}

// allInstancesEnded reports whether every instance has ended, so that only the output may still be wanted.
func (l *Loop) allInstancesEnded() bool {
	for _, inst := range l.instances {
		if inst.Status == ideafile.InstanceWorking {
			return false
		}
	}
	return true
}

// requestDue reports whether a Request is made now. Once an instance is ready, it waits for others that are busy, so that they
// share the Request, but no longer than the gathering time. Instances on which people have just decided wait as well for those
// that still need a decision, so that ten decisions in a row make one Request.
func (l *Loop) requestDue(now time.Time) bool {
	if l.allInstancesEnded() {
		return true
	}
	ready := l.readyInstances()
	if len(ready) == 0 {
		l.readySince = time.Time{}
		return false
	}
	if l.readySince.IsZero() {
		l.readySince = now
	}
	running, waiting := l.anyBusyOrAwaitingPerson()
	until := l.readySince.Add(l.idea.Config.GatherDelay)
	othersMayJoin := running || (waiting && allDecidedSinceRequest(ready))
	if !othersMayJoin || !now.Before(until) {
		return true
	}
	l.wakeAt(until)
	return false
}

// anyBusyOrAwaitingPerson reports whether an instance is busy, and whether one waits for a person.
func (l *Loop) anyBusyOrAwaitingPerson() (running, waiting bool) {
	for _, inst := range l.instances {
		switch inst.phase() {
		case awaitingPerson:
			waiting = true
		case busy:
			running = true
		}
	}
	return running, waiting
}

func allDecidedSinceRequest(instances []*InstanceProgress) bool {
	return !slices.ContainsFunc(instances, func(inst *InstanceProgress) bool { return !inst.DecidedSinceRequest })
}

func (l *Loop) wakeAt(t time.Time) {
	if l.wakeTime.IsZero() || t.Before(l.wakeTime) {
		l.wakeTime = t
	}
}

// WakeTime returns when Advance must be called again even if nothing happens; zero: never.
func (l *Loop) WakeTime() time.Time { return l.wakeTime }
