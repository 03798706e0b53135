package client

import (
	"time"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// ForkEffects is what a process takes up that starts from the Idea of another.
type ForkEffects struct {
	AskedAgain int // Calls that a person is asked about again
	TakenUp    int // Calls that had not ended at that moment: what had its effect since has it twice
	Ended      int // instances that are left as settled or failed
	// Delegates are Calls whose delegates were under way at that moment. In the fork they begin anew, and do again what they had done.
	Delegates []string
}

// EffectsOf says what a fork takes up: of an Idea from Chain.Fork, changed or not.
func EffectsOf(idea *ideafile.Idea) ForkEffects {
	var e ForkEffects
	resumed := loop.New(idea, "", nil, time.Time{})
	for _, t := range resumed.TakeResumedCalls() {
		for _, c := range t.Calls {
			if c.ReviewReason != "" {
				e.AskedAgain++
			} else {
				e.TakenUp++
			}
		}
	}
	asked, takenUp := resumed.CountResumedDirectPlanCalls()
	e.AskedAgain, e.TakenUp = e.AskedAgain+asked, e.TakenUp+takenUp
	e.Ended = len(resumed.TakeEndedInstances())
	e.Delegates = delegatesUnderWay(idea)
	return e
}

// delegatesUnderWay lists the ids of the Calls of an Idea whose delegates were under way.
func delegatesUnderWay(idea *ideafile.Idea) (ids []string) {
	tokens := idea.InstanceTokens()
	for _, msg := range idea.Context {
		past := turn.ReadPastDirectPlanCalls(msg, tokens)
		if msg.IsPlanWithRecord() {
			past = turn.ReadPastCalls(msg, tokens)
		}
		for _, p := range past {
			if t := idea.Tool(p.WrittenCall.Tool); t == nil || t.DelegateFile == "" {
				continue
			}
			for _, token := range jsonval.SortedKeys(p.StatusByInstance) {
				if p.StatusByInstance[token] == ideafile.Running {
					ids = append(ids, ideafile.FormatCallID(p.Request, p.Index, token))
				}
			}
		}
	}
	return ids
}
