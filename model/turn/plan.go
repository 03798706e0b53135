package turn

import (
	"slices"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
)

// PlanOfRequest makes the Plan of a Request from the Calls of its reply. A Call that is for no instance is included
// with the reason. anyCallDeliverable reports whether any Call is for an instance.
func PlanOfRequest(input *RequestInput,
	calls []ideafile.WrittenCall) (p approval.PlanAwaitingDecision, anyCallDeliverable bool) {
	p.RequestNumber = input.RequestNumber
	p.Instances = namedTokens(input.InstanceTokens())
	for n, w := range calls {
		c := approval.PlanCall{CallID: ideafile.FormatCallID(p.RequestNumber, n+1, ""), WrittenCall: w}
		tokens, f := TargetInstances(input, w)
		if f != nil {
			c.Error = f.Message
		}
		if len(tokens) > 0 {
			anyCallDeliverable, c.Instances = true, namedTokens(tokens)
		}
		p.Calls = append(p.Calls, c)
	}
	return p, anyCallDeliverable
}

// namedTokens returns the tokens, or nil if the only instance is anonymous.
func namedTokens(tokens []string) []string {
	if len(tokens) == 1 && tokens[0] == "" {
		return nil
	}
	return tokens
}

// TargetInstances returns the known instances that a Call of a Request's Plan is for, and a fault if it names others or
// none.
func TargetInstances(input *RequestInput, w ideafile.WrittenCall) ([]string, *diag.Fault) {
	palette := ideafile.Palette{InstanceTokens: input.InstanceTokens(), ReopenableTokens: input.ReopenableTokens}
	return palette.TargetInstances(w)
}

// DeliveredCall is a Call as written, with its index from 1, in the form in which it is sent to an instance.
type DeliveredCall struct {
	Index int                  `json:"index"`
	Call  ideafile.WrittenCall `json:"call"`
	// ReviewReason is why a person must review the Call, even if its Tool's policy requires none: it comes from a
	// process of another chain, or the LLM gave two different answers. Empty: the policy decides.
	ReviewReason string `json:"why,omitempty"`
}

// AmendPlan replaces the Calls of a reply by those of the Plan that a person has amended. If the person removed every
// Call of an instance, the instance does not settle, but is asked about again.
func AmendPlan(input *RequestInput, reply *LLMReply, calls []ideafile.WrittenCall) {
	reply.Calls, reply.CallFaults = calls, nil
	for n, w := range calls {
		tokens, f := TargetInstances(input, w)
		if f != nil {
			reply.CallFaults = append(reply.CallFaults, CallFault{Index: n + 1, Fault: *f})
		}
		reply.InstanceTokensWithoutCalls = slices.DeleteFunc(reply.InstanceTokensWithoutCalls,
			func(t string) bool { return slices.Contains(tokens, t) })
	}
}

// RejectPlan removes everything from a reply: it has no Calls and no output, and no instance settles by it.
func RejectPlan(p approval.PlanAwaitingDecision, reply *LLMReply, d approval.Decision) {
	reply.Calls, reply.CallFaults, reply.InstanceTokensWithoutCalls, reply.Output, reply.OutputFault = nil, nil,
		nil, nil, nil
	reply.IsComplete, reply.Fault = false, diag.Faultf(approval.CodePlanRejected, "%s", p.ExplainRejection(d))
}
