package split

import (
	"fmt"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/model/statelog"
)

// CheckCorrections returns why the parts would refuse one of people's messages, as far as the whole knows. It changes
// nothing. The whole knows only the initial States and, for a message to all instances, only what these share.
func (p *Process) CheckCorrections(i *ideafile.Idea, messages []ideafile.Message) error {
	plans := ideafile.FindDirectPlans(i.Context)
	for n, msg := range messages {
		err := p.checkCorrection(i, plans, msg)
		if err != nil {
			return fmt.Errorf("$.context[%d]: %w", n, err)
		}
	}
	return nil
}

func (p *Process) checkCorrection(i *ideafile.Idea, plans ideafile.DirectPlans, msg ideafile.Message) error {
	token := msg.InstanceToken
	view := ideafile.InstanceViewOf(i.Context, token)
	replaceable := slices.ContainsFunc(i.Context, ideafile.Message.IsDirectPlan)
	if token != "" {
		if s := p.statusOf(token); s.HasEnded() {
			return loop.InstanceEndedError(token, s)
		}
		at, _ := plans.ChooseForInstance(token, view)
		replaceable = at >= 0
	}
	switch {
	case msg.IsDirectPlan() && !replaceable:
		return loop.ErrNoPlanToReplace
	case msg.PayloadKind == ideafile.TypeState:
		return loop.CheckStateCorrection(msg, view, statelog.NewState(view.PayloadByKind[ideafile.TypeState]))
	}
	return nil
}

// statusOf returns the status of an instance, as its part has reported.
func (p *Process) statusOf(token string) ideafile.InstanceStatus {
	number := p.PartNumberOf(token)
	if number == 0 {
		return ""
	}
	return p.All[number-1].Report.Instances[token]
}
