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

// recheck is an answer that is being asked for a second time.
type recheck struct {
	first *turn.RequestInput // what the first answer is about
	input *turn.RequestInput
}

// heldByRecheck is why a person must review a Call, if another process takes it over while it waits for the second
// answer: nobody asks there again.
const heldByRecheck = "the LLM was to be asked about it a second time, and had not answered in the process before"

// RechecksInFlight reports whether any answer is being asked for a second time.
func (l *Loop) RechecksInFlight() bool { return len(l.rechecks) > 0 }

// isHeldByRecheck reports whether a Call waits for the second answer about an instance, and so was not sent to it.
func (l *Loop) isHeldByRecheck(p PlannedCall, inst *InstanceProgress) bool {
	return slices.ContainsFunc(l.rechecks, func(c *recheck) bool {
		return c.first.RequestNumber == p.Request && slices.Contains(c.first.HeldTokens, inst.Token)
	})
}

// Quality reports how the answers that were asked for twice compare.
func (l *Loop) Quality() *quality.Report {
	return l.Rechecked.Report(quality.SizeFor(l.Idea, l.bindings), l.Idea.Config.Quality.Limit)
}

// drawRecheck draws, from the instances of the Request in flight, those about which the LLM is asked twice.
func (l *Loop) drawRecheck() {
	req, settings := l.requestInFlight, l.Idea.Config.Quality
	if !HandsOutCalls(req.RequestInput) || settings.Recheck == 0 {
		return
	}
	req.recheckedPlaces = l.Rechecked.Draw(l.Idea.QualitySeed, req.RequestNumber, len(req.Instances), settings.Recheck,
		l.IsPart)
	if settings.HoldsCalls && !l.HoldsPlans { // a Plan that waits for people need not be held as well
		for _, n := range req.recheckedPlaces {
			req.HeldTokens = append(req.HeldTokens, req.Instances[n].Token)
		}
	}
}

// StartRecheck returns the Request that asks a second time for the answer just given; nil if none is due. In its prompt
// the instances have other neighbours than in the first, and another order.
func (l *Loop) StartRecheck() *turn.RequestInput {
	req := l.requestInFlight
	if req == nil || req.Reply == nil || len(req.recheckedPlaces) == 0 {
		return nil
	}
	drawn := req.recheckedPlaces
	if req.recheckedPlaces = nil; !req.Reply.Complete || req.Reply.Faked {
		l.Rechecked.Covered -= len(req.Instances)
		l.Rechecked.Drawn -= len(drawn)
		return nil
	}
	input, places := *req.RequestInput, map[int]int{}
	order := quality.Order(l.Idea.QualitySeed, input.RequestNumber, quality.AskedFirst, len(input.Instances))
	for place, n := range order {
		places[n] = place + 1
	}
	l.TurnCount++ // the recheck uses up a line of a scripted LLM
	input.Turn += max(1, req.Reply.HTTPAttempts)
	input.Recheck = &turn.Recheck{Calls: req.Reply.Calls, Positions: map[string]int{}}
	if by := req.Reply.AnsweringLLM; by != nil {
		input.Recheck.LLM = by.RequestedModel
	}
	input.Instances, input.ReopenableTokens = nil, nil
	input.Others.Working += len(req.Instances) - len(drawn)
	for _, n := range slices.Sorted(slices.Values(drawn)) {
		input.Instances = append(input.Instances, req.Instances[n])
		input.Recheck.Positions[req.Instances[n].Token] = places[n]
	}
	l.rechecks = append(l.rechecks, &recheck{first: req.RequestInput, input: &input})
	return &input
}

// ApplyRecheck applies the end of a recheck, however it ended. It returns what to send to instances: the Calls that
// were held, and Calls that a person must review because the second answer differed.
func (l *Loop) ApplyRecheck(input *turn.RequestInput, r turn.LLMReply) (list []ResumedCalls) {
	at := slices.IndexFunc(l.rechecks, func(c *recheck) bool { return c.input == input })
	if at < 0 {
		return nil
	}
	first := l.rechecks[at].first
	l.rechecks = slices.Delete(l.rechecks, at, at+1)
	l.Rechecked.Usage.Add(r.Usage)
	why := map[string]string{}
	for _, c := range r.Comparisons {
		l.Rechecked.Add(c)
		l.addToLog(turn.LogEntry{Instance: c.Token, Recheck: &c})
		l.HasUnsealedChanges = true
		if c.Differed {
			why[c.Token] = c.DisagreementText()
		}
	}
	if n := len(input.Instances) - len(r.Comparisons); n > 0 {
		failed := quality.Failures{Failed: n, Because: "the LLM gave no whole second answer"}
		if r.Fault != nil {
			failed.Because = r.Fault.Message
		}
		l.Rechecked.AddFailures(failed)
	}
	inPlan := l.PendingPlan != nil && l.PendingPlan.Request == input.RequestNumber // the Plan's deciders are shown it
	if inPlan {
		told := *l.PendingPlan // a copy, since reports may share the old one
		for token, text := range jsonval.Sorted(why) {
			told.Disagreements = append(told.Disagreements, strings.TrimPrefix(token+": ", ": ")+text)
		}
		l.PendingPlan = &told
	}
	byToken := callsByInstance(first, input.Recheck.Calls)
	for _, instance := range input.Instances {
		held := slices.Contains(first.HeldTokens, instance.Token)
		seen := why[instance.Token] == "" || inPlan
		inst := l.byToken[instance.Token]
		if (!held && seen) || !inst.CanReceiveCalls() {
			continue
		}
		calls := ResumedCalls{Token: instance.Token, Request: input.RequestNumber, Calls: byToken[instance.Token],
			Known: !held}
		calls.Calls = slices.DeleteFunc(calls.Calls, func(c turn.DeliveredCall) bool {
			return l.wasReplacedByPerson(input.RequestNumber, c)
		})
		for n := range calls.Calls {
			c := &calls.Calls[n]
			c.ReviewReason = why[instance.Token]
			if held && c.ReviewReason != "" { // until the instance reports it
				inst.setWaiting(calls.Request, *c)
			}
		}
		list = append(list, calls)
	}
	return list
}

// wasReplacedByPerson reports whether a person has replaced a Call of the first answer.
func (l *Loop) wasReplacedByPerson(request int, c turn.DeliveredCall) bool {
	return slices.ContainsFunc(l.PlannedCalls, func(p PlannedCall) bool {
		return p.Request == request && p.Index == c.Index && !jsonval.Equal(p.Call.AsWritten(), c.Call.AsWritten())
	})
}

// pauseForDisagreement pauses the process, once, if more answers differed than its file allows. A part leaves that to
// the whole. A process that is paused already is paused for this after its resumption, since whoever resumes it has not
// seen this reason.
func (l *Loop) pauseForDisagreement() {
	settings := l.Idea.Config.Quality
	if settings.OnLimit == ideafile.PauseProcess && !l.IsPart && !l.PausedForDisagreement && l.PauseReason == nil &&
		l.Rechecked.IsAbove(settings.Limit) {
		l.PausedForDisagreement = true
		l.PauseWithFault(quality.PauseFault(l.Rechecked.Count, settings.Limit))
	}
}
