package processtest

import (
	"processidea/client"
)

// Approve lets a Call run as shown. decider is who decides, followed by their groups; it may be empty if no policy
// asks.
func (p *Process) Approve(a client.Approval, deciderAndGroups ...string) {
	p.t.Helper()
	p.decide(a, client.Decision{Kind: client.Approve}, deciderAndGroups)
}

// Reject keeps a Call from running; the LLM gets the reason.
func (p *Process) Reject(a client.Approval, reason string, deciderAndGroups ...string) {
	p.t.Helper()
	p.decide(a, client.Decision{Kind: client.Reject, Reason: reason}, deciderAndGroups)
}

// Amend lets a Call run with other parameters. params holds only those that change.
func (p *Process) Amend(a client.Approval, params map[string]any, deciderAndGroups ...string) {
	p.t.Helper()
	p.decide(a, client.Decision{Kind: client.Amend, Value: params}, deciderAndGroups)
}

// Answer gives a Call its result; nothing runs.
func (p *Process) Answer(a client.Approval, result any, deciderAndGroups ...string) {
	p.t.Helper()
	p.decide(a, client.Decision{Kind: client.Answer, Value: result}, deciderAndGroups)
}

func (p *Process) decide(a client.Approval, d client.Decision, deciderAndGroups []string) {
	p.t.Helper()
	d.CallID, d.ApprovalDigest = a.CallID, a.Digest
	if len(deciderAndGroups) > 0 {
		d.By, d.Groups = deciderAndGroups[0], deciderAndGroups[1:]
	}
	if err := p.Decide(a.Process, d); err != nil {
		p.t.Fatalf("processtest: %v", err)
	}
}

// Decide sends any decision to a process: this one, a part of it, or a delegate, as Approval.Process names it. A
// refused decision returns an error, so that a test can check the refusal.
func (p *Process) Decide(processID string, d client.Decision) error {
	ctx, cancel := p.context()
	defer cancel()
	return p.client.Process(processID).Decide(ctx, d)
}
