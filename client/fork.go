package client

import (
	"time"

	"processidea/model/ideafile"
	"processidea/model/loop"
)

// ForkEffects is what a process takes up that starts from the Idea of another.
type ForkEffects struct {
	AskedAgain int // Calls that a person is asked about again
	TakenUp    int // Calls that had not ended at that moment: what had its effect since has it twice
	Ended      int // instances that are left as settled or failed
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
	return e
}
