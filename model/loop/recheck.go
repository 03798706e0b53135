package loop

import (
	"slices"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/quality"
	"processidea/model/turn"
)

// This file asks the LLM for some answers a second time. How often the two answers differ measures how far its answers
// can be trusted. The Calls of the second answer never run. Only the end of the process and the Calls that the Idea
// file names (`config.quality.before`) wait for it. It counts towards no limit.

// pendingRecheck is an answer that is being asked for a second time.
type pendingRecheck struct {
	originalInput *turn.RequestInput // what the first answer is about
	recheckInput  *turn.RequestInput
}

// heldByRecheckReason is why a person must review a Call, if another process takes it over while it waits for the
// second answer: nobody asks there again.
const heldByRecheckReason = "the LLM was to be asked about it a second time, and had not answered in the process before"

// HasRechecksInFlight reports whether any answer is being asked for a second time.
func (l *Loop) HasRechecksInFlight() bool { return len(l.pendingRechecks) > 0 }

// isHeldByRecheck reports whether a Call waits for the second answer about an instance, and so was not sent to it.
func (l *Loop) isHeldByRecheck(p PlannedCall, inst *InstanceProgress) bool {
	return slices.ContainsFunc(l.pendingRechecks, func(c *pendingRecheck) bool {
		return c.originalInput.RequestNumber == p.Request &&
			slices.Contains(c.originalInput.TokensHeldForRecheck, inst.Token)
	})
}

// QualityReport reports how the answers that were asked for twice compare.
func (l *Loop) QualityReport() *quality.Report {
	return l.RecheckTally.Report(quality.RequestSizeFor(l.Idea, l.bindings), l.Idea.Config.Quality.DisagreementLimit)
}

// sampleRecheck draws, from the instances of the Request in flight, those about which the LLM is asked twice.
func (l *Loop) sampleRecheck() {
	req, settings := l.requestInFlight, l.Idea.Config.Quality
	if !AsksForCalls(req.RequestInput) || settings.RecheckShare == 0 {
		return
	}
	req.recheckInstanceIndexes = l.RecheckTally.DrawRecheckSample(l.Idea.QualitySeed, req.RequestNumber,
		len(req.Instances),
		settings.RecheckShare, l.IsPart)
	if settings.HoldsCallsForRecheck && !l.RequiresPlanReview { // a Plan that waits for people need not be held as well
		for _, n := range req.recheckInstanceIndexes {
			req.TokensHeldForRecheck = append(req.TokensHeldForRecheck, req.Instances[n].Token)
		}
	}
}

// StartRecheck returns the Request that asks a second time for the answer just given; nil if none is due. In its prompt
// the instances have other neighbours than in the first, and another order.
func (l *Loop) StartRecheck() *turn.RequestInput {
	req := l.requestInFlight
	if req == nil || req.Reply == nil || len(req.recheckInstanceIndexes) == 0 {
		return nil
	}
	sampledInstanceIndexes := req.recheckInstanceIndexes
	if req.recheckInstanceIndexes = nil; !req.Reply.IsComplete || req.Reply.IsSimulated {
		l.RecheckTally.CoveredInstanceCount -= len(req.Instances)
		l.RecheckTally.SampledInstanceCount -= len(sampledInstanceIndexes)
		return nil
	}
	recheckInput, positionByInstanceIndex := *req.RequestInput, map[int]int{}
	order := quality.ShuffledOrder(l.Idea.QualitySeed, recheckInput.RequestNumber, quality.ShufflePurposeRequest,
		len(recheckInput.Instances))
	for position, n := range order {
		positionByInstanceIndex[n] = position + 1
	}
	l.TurnCount++ // the recheck uses up a line of a scripted LLM
	recheckInput.TurnNumber += max(1, req.Reply.HTTPAttemptCount)
	recheckInput.Recheck = &turn.Recheck{FirstCalls: req.Reply.Calls, InstancePositionByToken: map[string]int{}}
	if llm := req.Reply.AnsweringLLM; llm != nil {
		recheckInput.Recheck.FirstLLM = llm.RequestedModel
	}
	recheckInput.Instances, recheckInput.ReopenableTokens = nil, nil
	recheckInput.Others.Working += len(req.Instances) - len(sampledInstanceIndexes)
	for _, n := range slices.Sorted(slices.Values(sampledInstanceIndexes)) {
		recheckInput.Instances = append(recheckInput.Instances, req.Instances[n])
		recheckInput.Recheck.InstancePositionByToken[req.Instances[n].Token] = positionByInstanceIndex[n]
	}
	l.pendingRechecks = append(l.pendingRechecks, &pendingRecheck{originalInput: req.RequestInput,
		recheckInput: &recheckInput})
	return &recheckInput
}

// ApplyRecheck applies the end of a recheck, however it ended. It returns what to send to instances: the Calls that
// were held, and Calls that a person must review because the second answer differed.
func (l *Loop) ApplyRecheck(recheckInput *turn.RequestInput, r turn.LLMReply) (list []CallDelivery) {
	index := slices.IndexFunc(l.pendingRechecks, func(c *pendingRecheck) bool { return c.recheckInput == recheckInput })
	if index < 0 {
		return nil
	}
	originalInput := l.pendingRechecks[index].originalInput
	l.pendingRechecks = slices.Delete(l.pendingRechecks, index, index+1)
	l.RecheckTally.Usage.Add(r.Usage)
	disagreementByToken := map[string]string{}
	for _, c := range r.Comparisons {
		l.RecheckTally.AddComparison(c)
		l.addToLog(turn.LogEntry{InstanceToken: c.InstanceToken, Recheck: &c})
		l.HasUnsealedChanges = true
		if c.HasDiffered {
			disagreementByToken[c.InstanceToken] = c.DisagreementText()
		}
	}
	if n := len(recheckInput.Instances) - len(r.Comparisons); n > 0 {
		failures := quality.RecheckFailures{FailedCount: n, LatestReason: "the LLM gave no whole second answer"}
		if r.Fault != nil {
			failures.LatestReason = r.Fault.Message
		}
		l.RecheckTally.AddFailures(failures)
	}
	// the Plan's deciders are shown it
	isInPendingPlan := l.PendingPlan != nil && l.PendingPlan.RequestNumber == recheckInput.RequestNumber
	if isInPendingPlan {
		updatedPlan := *l.PendingPlan // a copy, since reports may share the old one
		for token, text := range jsonval.Sorted(disagreementByToken) {
			updatedPlan.Disagreements = append(updatedPlan.Disagreements, strings.TrimPrefix(token+": ", ": ")+text)
		}
		l.PendingPlan = &updatedPlan
	}
	callsByToken := callsByInstance(originalInput, recheckInput.Recheck.FirstCalls)
	for _, instance := range recheckInput.Instances {
		isHeld := slices.Contains(originalInput.TokensHeldForRecheck, instance.Token)
		isShownAlready := disagreementByToken[instance.Token] == "" || isInPendingPlan
		inst := l.instanceByToken[instance.Token]
		if (!isHeld && isShownAlready) || !inst.CanReceiveCalls() {
			continue
		}
		delivery := CallDelivery{InstanceToken: instance.Token, RequestNumber: recheckInput.RequestNumber,
			Calls:             callsByToken[instance.Token],
			AreCallsDelivered: !isHeld}
		delivery.Calls = slices.DeleteFunc(delivery.Calls, func(c turn.DeliveredCall) bool {
			return l.wasReplacedByPerson(recheckInput.RequestNumber, c)
		})
		for n := range delivery.Calls {
			c := &delivery.Calls[n]
			c.ReviewReason = disagreementByToken[instance.Token]
			if isHeld && c.ReviewReason != "" { // until the instance reports it
				inst.setCallWaiting(delivery.RequestNumber, *c)
			}
		}
		list = append(list, delivery)
	}
	return list
}

// wasReplacedByPerson reports whether a person has replaced a Call of the first answer.
func (l *Loop) wasReplacedByPerson(requestNumber int, c turn.DeliveredCall) bool {
	return slices.ContainsFunc(l.PlannedCalls, func(p PlannedCall) bool {
		return p.Request == requestNumber && p.Index == c.Index &&
			!jsonval.Equal(p.Call.AsWritten(), c.Call.AsWritten())
	})
}

// pauseForDisagreement pauses the process, once, if more answers differed than its file allows. A part leaves that to
// the whole. A process that is paused already is paused for this after its resumption, since whoever resumes it has not
// seen this reason.
func (l *Loop) pauseForDisagreement() {
	settings := l.Idea.Config.Quality
	if settings.DisagreementLimitAction == ideafile.PauseProcess && !l.IsPart && !l.HasPausedForDisagreement &&
		l.PauseReason == nil &&
		l.RecheckTally.IsDifferedShareAbove(settings.DisagreementLimit) {
		l.HasPausedForDisagreement = true
		l.PauseWithFault(quality.DisagreementPauseFault(l.RecheckTally.RecheckCount, settings.DisagreementLimit))
	}
}
