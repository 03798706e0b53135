package backtest

import (
	"errors"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Planner answers the Requests of the new Idea in the LLM's place.
type Planner interface {
	// Reply answers one Request of a process. An error that wraps ErrNoReply leaves the covered instances unknown from
	// there; any other ends the backtest.
	Reply(idea *ideafile.Idea, bindings ideafile.ToolBindings, request *turn.RequestInput) (Reply, error)
}

// Reply is the solution to a Request.
type Reply struct {
	Calls  []any
	Output any
}

// ErrNoReply is wrapped by the error of a Planner that has no answer to a Request.
var ErrNoReply = errors.New("nobody answers")

// pastPlans has every instance planned for as it was then: Request by Request, the Calls that it got. It is the Planner
// where none is given.
type pastPlans struct {
	chain *chain
	next  map[string]int // how many Requests of an instance have been answered
	// withoutRecordedReply are instances for which a Plan asks the LLM something new: the recorded reply was about
	// something else.
	withoutRecordedReply map[string]bool
}

// isLLMPlanned reports whether the LLM planned for an instance then, before anything failed.
func (i *pastInstance) isLLMPlanned() bool {
	return !slices.ContainsFunc(i.calls, func(c *pastCall) bool { return c.Key.Request == 0 })
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

// callsFor are the Calls of the next Request of an instance then; more says whether others followed.
func (p *pastPlans) callsFor(i *pastInstance) (calls []any, more bool) {
	numbers := i.requestNumbers()
	n := p.next[i.token]
	p.next[i.token]++
	if n >= len(numbers) {
		return nil, false
	}
	for _, c := range i.calls {
		if c.Key.Request != numbers[n] {
			continue
		}
		raw := jsonval.WithoutKey(c.Written.RawObject(), "_instance")
		if i.token != "" {
			raw["_instance"] = i.token
		}
		calls = append(calls, raw)
	}
	return calls, n+1 < len(numbers)
}

func (p *pastPlans) Reply(idea *ideafile.Idea, _ ideafile.ToolBindings,
	request *turn.RequestInput) (Reply, error) {
	var reply Reply
	if len(request.Questions) > 0 {
		return reply, ErrNoReply
	}
	more := false
	if !request.OutputOnly {
		for _, i := range p.chain.instances {
			if slices.Contains(request.InstanceTokens(), i.token) && !p.withoutRecordedReply[i.token] {
				calls, others := p.callsFor(i)
				reply.Calls, more = append(reply.Calls, calls...), more || others
			}
		}
	}
	if idea.OutputSchema != nil && !more && request.ReplyMayHoldOutput() {
		reply.Output = p.chain.output
	}
	return reply, nil
}
