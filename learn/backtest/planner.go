package backtest

import (
	"errors"
	"slices"

	"processidea/learn/past"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Planner answers the Requests of the new Idea in the LLM's place.
type Planner interface {
	// Reply answers one Request of a process. After an error that wraps ErrNoReply, the covered instances are unknown
	// from there on; any other error ends the backtest.
	Reply(idea *ideafile.Idea, bindings ideafile.ToolBindings, request *turn.RequestInput) (Reply, error)
}

// Reply is the solution to a Request.
type Reply struct {
	Calls  []any
	Output any
}

// ErrNoReply is wrapped by the error of a Planner that has no answer to a Request.
var ErrNoReply = errors.New("nobody answers")

// pastPlanner plans for every instance as was planned for it in the past: Request by Request, with the same Calls. It
// is the Planner if none is given.
type pastPlanner struct {
	chain                   *chain
	answeredRequestsByToken map[string]int // how many Requests of an instance have been answered
	// lacksRecordedReply are instances for which a Plan asks the LLM something new: the recorded reply was about
	// something else.
	lacksRecordedReply map[string]bool
}

// isLLMPlanned reports whether no Plan ran an instance directly then, so that the LLM planned for it from the
// beginning.
func (i *pastInstance) isLLMPlanned() bool {
	return !slices.ContainsFunc(i.calls, func(c *past.Call) bool { return c.Key.Request == 0 })
}

// requestNumbers are the numbers of the Requests that gave an instance Calls.
func (i *pastInstance) requestNumbers() (numbers []int) {
	for _, c := range i.calls {
		if c.Key.Request > 0 {
			numbers = append(numbers, c.Key.Request)
		}
	}
	return slices.Compact(numbers) // the Calls are in Plan order
}

// takeNextCalls returns the Calls that an instance got in its next Request of the past. hasMoreRequests says whether
// other Requests followed.
func (p *pastPlanner) takeNextCalls(i *pastInstance) (calls []any, hasMoreRequests bool) {
	requestNumbers := i.requestNumbers()
	n := p.answeredRequestsByToken[i.token]
	p.answeredRequestsByToken[i.token]++
	if n >= len(requestNumbers) {
		return nil, false
	}
	for _, c := range i.calls {
		if c.Key.Request != requestNumbers[n] {
			continue
		}
		raw := jsonval.WithoutKey(c.WrittenCall.RawObject(), "_instance")
		if i.token != "" {
			raw["_instance"] = i.token
		}
		calls = append(calls, raw)
	}
	return calls, n+1 < len(requestNumbers)
}

func (p *pastPlanner) Reply(idea *ideafile.Idea, _ ideafile.ToolBindings,
	request *turn.RequestInput) (Reply, error) {
	var reply Reply
	if len(request.Questions) > 0 {
		return reply, ErrNoReply
	}
	hasMoreRequests := false
	if !request.IsOutputOnly {
		for _, i := range p.chain.instances {
			if slices.Contains(request.InstanceTokens(), i.token) && !p.lacksRecordedReply[i.token] {
				calls, othersFollow := p.takeNextCalls(i)
				reply.Calls, hasMoreRequests = append(reply.Calls, calls...), hasMoreRequests || othersFollow
			}
		}
	}
	if idea.OutputSchema != nil && !hasMoreRequests && request.ReplyMayHoldOutput() {
		reply.Output = p.chain.lastOutput
	}
	return reply, nil
}
