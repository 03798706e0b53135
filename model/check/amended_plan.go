package check

import (
	"fmt"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// AmendedPlanChecker is the context for checking the Calls of a Plan that a person has amended.
type AmendedPlanChecker struct {
	Palette ideafile.Palette
	Context []ideafile.Message
}

// CheckRequestCalls returns the error of the first invalid Call of a Request's Plan; nil if all can run.
func (p AmendedPlanChecker) CheckRequestCalls(input *turn.RequestInput, calls []ideafile.WrittenCall) error {
	p.Palette.InstanceTokens, p.Palette.ReopenableTokens = input.InstanceTokens(), input.ReopenableTokens
	instanceByToken := map[string]*dataflow.Instance{}
	for n, w := range calls {
		tokens, f := p.Palette.TargetInstances(w)
		if f == nil {
			_, _, f = p.Palette.ReadCall(w)
		}
		if f != nil {
			return fmt.Errorf("calls[%d]: %s", n, f.Message)
		}
		for _, token := range tokens {
			if instanceByToken[token] == nil {
				instanceByToken[token] = p.newInstance(token)
			}
			instanceByToken[token].AcceptCall(input.RequestNumber, n+1, w)
			if err := refusalError(instanceByToken[token], n,
				ideafile.CallKey{Request: input.RequestNumber, Index: n + 1},
				token); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckDirectCalls is CheckRequestCalls for the direct Plan of some instances. Context has the Plan as amended.
func (p AmendedPlanChecker) CheckDirectCalls(instanceTokens []string, calls []ideafile.WrittenCall,
	callIndexOffset int) error {
	p.Palette.UntargetedCallsGoToAll, p.Palette.AllowsDirectPlanKeys, p.Palette.InstanceTokens = true, true,
		instanceTokens
	for n, w := range calls {
		if _, _, f := p.Palette.ReadCall(w); f != nil {
			return fmt.Errorf("calls[%d]: %s", n, f.Message)
		}
	}
	for _, token := range instanceTokens {
		instance := p.newInstance(token)
		instance.StartDirectPlan()
		for n := range calls {
			if err := refusalError(instance, n, ideafile.CallKey{Index: callIndexOffset + n + 1}, token); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p AmendedPlanChecker) newInstance(token string) *dataflow.Instance {
	messages := jsonval.Filter(p.Context,
		func(m ideafile.Message) bool { return m.InstanceToken == "" || m.InstanceToken == token })
	return dataflow.New(p.Palette, messages, token)
}

func refusalError(i *dataflow.Instance, callIndex int, key ideafile.CallKey, instanceToken string) error {
	rec := i.FindCall(key.ID(instanceToken))
	if rec == nil || rec.Status != ideafile.CallFailed || rec.Fault == nil {
		return nil
	}
	if instanceToken == "" {
		return fmt.Errorf("calls[%d]: %s", callIndex, rec.Fault.Message)
	}
	return fmt.Errorf("calls[%d], in instance %s: %s", callIndex, instanceToken, rec.Fault.Message)
}
