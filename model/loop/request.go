package loop

import (
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// composeRequest composes the next Request: questions alone where a ready instance has some; the output alone where every
// instance has ended; all ready instances otherwise.
func (l *Loop) composeRequest() *turn.RequestInput {
	input := &turn.RequestInput{Process: l.processID, Number: l.priorRequests + l.requestCount + 1, Turn: l.turnCount + 1, OutputOnly: l.allInstancesEnded()}
	instances := l.readyInstances()
	for _, inst := range instances {
		input.Questions = append(input.Questions, inst.Questions...)
	}
	if input.OutputOnly {
		instances = l.instances
	}
	for _, inst := range instances {
		if len(input.Questions) == 0 || len(inst.Questions) > 0 {
			input.Instances = append(input.Instances, turn.InstanceInput{Token: inst.Token, State: inst.state.Value(), Missing: inst.missingForLLM()})
		}
	}
	about := l.coveredInstances(input)
	input.Plan, input.Errors = l.planEntries(about), l.errorsToReport(about)
	return input
}

func (l *Loop) coveredInstances(input *turn.RequestInput) []*InstanceProgress {
	var list []*InstanceProgress
	for _, c := range input.Instances {
		list = append(list, l.instance(c.Token))
	}
	return list
}

// FullInput returns the process as it stands, in the form of a Request about every instance: for an Idea.
func (l *Loop) FullInput() *turn.RequestInput {
	input := &turn.RequestInput{
		Process: l.processID, Number: l.priorRequests + l.requestCount, Turn: l.turnCount,
		Plan: l.planEntries(l.instances), Errors: l.errorsToReport(l.instances),
	}
	for _, inst := range l.instances {
		c := turn.InstanceInput{Token: inst.Token, State: inst.state.Value(), Missing: inst.Missing}
		if inst.Status != ideafile.InstanceWorking {
			c.Status, c.Fault = inst.Status, inst.Fault
		}
		input.Instances = append(input.Instances, c)
	}
	return input
}

// InFlight returns the Request in flight, nil where there is none.
func (l *Loop) InFlight() *turn.RequestInput {
	if l.inFlight == nil {
		return nil
	}
	return l.inFlight.input
}

// ApplyReply records the LLM's reply to the Request in flight, or how the Request failed.
func (l *Loop) ApplyReply(r turn.Reply) {
	if l.inFlight == nil || l.inFlight.reply != nil {
		return
	}
	l.inFlight.reply = &r
	l.requestCount++
	l.usage.Add(r.Usage)
}
