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
func (p *Process) CheckCorrections(idea *ideafile.Idea, messages []ideafile.Message) error {
	directPlans := ideafile.FindDirectPlans(idea.Context)
	for n, msg := range messages {
		err := p.checkCorrection(idea, directPlans, msg)
		if err != nil {
			return fmt.Errorf("$.context[%d]: %w", n, err)
		}
	}
	return nil
}

func (p *Process) checkCorrection(idea *ideafile.Idea, directPlans ideafile.DirectPlans, msg ideafile.Message) error {
	token := msg.InstanceToken
	view := ideafile.InstanceViewOf(idea.Context, token)
	hasReplaceablePlan := slices.ContainsFunc(idea.Context, ideafile.Message.IsDirectPlan)
	if token != "" {
		if s := p.instanceStatus(token); s.HasEnded() {
			return loop.InstanceEndedError(token, s)
		}
		planIndex, _ := directPlans.ChooseForInstance(token, view)
		hasReplaceablePlan = planIndex >= 0
	}
	switch {
	case msg.IsDirectPlan() && !hasReplaceablePlan:
		return loop.ErrNoPlanToReplace
	case msg.PayloadKind == ideafile.TypeState:
		return loop.CheckStateCorrection(msg, view, statelog.NewState(view.PayloadByKind[ideafile.TypeState]))
	}
	return nil
}

// instanceStatus returns the status of an instance, as its part has reported.
func (p *Process) instanceStatus(token string) ideafile.InstanceStatus {
	number := p.PartNumberOf(token)
	if number == 0 {
		return ""
	}
	return p.Parts[number-1].Report.StatusByInstance[token]
}
