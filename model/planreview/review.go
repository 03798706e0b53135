package planreview

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/deciders"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// CheckDecision returns a decision as it counts for what waits, or why it changes nothing. starters are those who
// started the process, and causers those who added or revised instances of the Plan. Whether the Calls of an
// amendment can run is checked elsewhere.
func CheckDecision(p *Pending, d turn.Decision, starters, causers []string, now time.Time) (turn.Decision, error) {
	switch {
	case p == nil:
		return d, errors.New("no Plan waits for a decision")
	case *d.PlanRequest != p.Request:
		return d, fmt.Errorf("what waits is %s: no Plan of Request %d waits", p.Name(), *d.PlanRequest)
	case d.ApprovalDigest != "" && d.ApprovalDigest != p.Digest:
		return d, fmt.Errorf("the digest is not that of the Plan that waits now, %s", p.Digest)
	case d.Kind == SteerAmendPlan && p.NotAmendable != "":
		return d, errors.New(p.NotAmendable)
	}
	about := d
	about.CallID, about.ApprovalDigest = p.ProofCall(), p.Digest
	proven, err := about.Proven(p.asApproval(), nil, now)
	if err != nil {
		return d, err
	}
	proven.CallID, proven.DecidedAt, proven.Deciders = "", now, p.Deciders
	return proven, p.checkDecider(proven, starters, causers)
}

// checkDecider returns why this person may not take the decision.
func (p *Pending) checkDecider(d turn.Decision, starters, causers []string) error {
	if len(p.Deciders) == 0 {
		return nil
	}
	switch name := strings.TrimSpace(d.DecidedBy); {
	case name == "":
		if !p.Deciders.Signed() {
			return fmt.Errorf(`it does not say who decides, and not everybody may: "by" is missing (%s)`, p.Deciders)
		}
	case deciders.SameName(name, turn.DecidedByTimeout), deciders.SameName(name, turn.DecidedByProcess):
		return fmt.Errorf("%q is nobody's name", name)
	}
	if why := p.Deciders.DenialReason(d.Decider(), starters, causers...); why != "" {
		return errors.New(why)
	}
	same := func(v turn.Vote) bool { return deciders.SameName(v.DecidedBy, d.DecidedBy) }
	if d.Kind == SteerApprovePlan && slices.ContainsFunc(p.DecidedSoFar, same) {
		return fmt.Errorf("%s has decided on it already; it takes %d people", d.DecidedBy, p.Deciders.RequiredApprovals())
	}
	return nil
}

// WithVote counts an approval, or an amendment, which approves what it makes of the Plan, and reports whether others must still approve.
func (p *Pending) WithVote(d turn.Decision) (more bool) {
	p.DecidedSoFar = append(slices.Clone(p.DecidedSoFar), turn.Vote{Kind: ideafile.Approve, DecidedBy: d.DecidedBy, Groups: d.Groups, DecidedAt: d.DecidedAt})
	return len(p.DecidedSoFar) < p.Deciders.RequiredApprovals()
}

// Amended returns the Plan with other Calls in the place of its own: whoever approved it before must see what has become of it.
func (p Pending) Amended(process string, calls []Call) *Pending {
	if p.Original == nil {
		p.Original = p.WrittenCalls()
	}
	p.Calls, p.DecidedSoFar = calls, nil
	p.SetDigest(process)
	return &p
}

// Describe says for the LLM what was decided on a Plan, by whom and why.
func (p Pending) Describe(d turn.Decision) string {
	by, verb := d.DecidedBy, map[string]string{SteerApprovePlan: "approved", SteerAmendPlan: "amended", SteerRejectPlan: "rejected"}[d.Kind]
	if by == "" {
		by = "a person"
	}
	s := fmt.Sprintf("%s was %s by %s", p.Name(), verb, by)
	if d.Reason != "" {
		s += ": " + d.Reason
	}
	return s
}

// maxTold is how many bytes the next Request is told of the Calls of a Plan.
const maxTold = 2000

// ToldOfRejection says for the LLM that nothing of the Plan ran, and what it was, so that it does not propose the same again.
func (p Pending) ToldOfRejection(d turn.Decision) string {
	return jsonval.Clip(fmt.Sprintf("%s; none of its calls ran. They were: %s", p.Describe(d), jsonval.Encode(jsonval.ToJSONValue(p.Planned()))), maxTold)
}

// ToldOfAmendment says for the LLM that the Plan ran as a person had changed it, and which of its Calls did not.
func (p Pending) ToldOfAmendment(d turn.Decision) string {
	s := p.Describe(d) + "; the calls that are listed are as amended"
	if gone := p.removed(); len(gone) > 0 {
		s += ". These did not run as planned: " + string(jsonval.Encode(jsonval.ToJSONValue(gone)))
	}
	return jsonval.Clip(s, maxTold)
}

// Planned are the Calls as they were planned, before people amended them.
func (p Pending) Planned() []ideafile.WrittenCall {
	if p.Original != nil {
		return p.Original
	}
	return p.WrittenCalls()
}

// removed lists the planned Calls that the Plan as amended has no more.
func (p Pending) removed() (gone []ideafile.WrittenCall) {
	for _, planned := range p.Planned() {
		if !slices.ContainsFunc(p.Calls, func(c Call) bool { return jsonval.Equal(c.Written.RawValue(), planned.RawValue()) }) {
			gone = append(gone, planned)
		}
	}
	return gone
}

// OfRequest makes the Plan of a Request, from the Calls of its reply. Those that no instance takes stand in it with the reason.
func OfRequest(input *turn.RequestInput, calls []ideafile.WrittenCall) (p Pending, deliverable bool) {
	p.Request = input.RequestNumber
	for _, token := range input.InstanceTokens() {
		if token != "" {
			p.Instances = append(p.Instances, token)
		}
	}
	for n, w := range calls {
		c := Call{CallID: ideafile.FormatCallID(p.Request, n+1, ""), Written: w}
		tokens, f := TargetInstances(input, w)
		if f != nil {
			c.Error = f.Message
		}
		if len(tokens) > 0 {
			deliverable, c.Instances = true, named(tokens)
		}
		p.Calls = append(p.Calls, c)
	}
	return p, deliverable
}

func named(tokens []string) []string {
	if len(tokens) == 1 && tokens[0] == "" {
		return nil
	}
	return tokens
}

// TargetInstances returns the instances that a Call of a Request's Plan is for, or why it is for none.
func TargetInstances(input *turn.RequestInput, w ideafile.WrittenCall) ([]string, *diag.Fault) {
	palette := ideafile.Palette{InstanceTokens: input.InstanceTokens(), ReopenableTokens: input.ReopenableTokens}
	return palette.TargetInstances(w)
}

// Amend puts the Calls of a Plan that a person has changed into the reply that planned it. An instance of which a person took out every Call does not
// settle by that: it is asked about again.
func Amend(input *turn.RequestInput, reply *turn.LLMReply, calls []ideafile.WrittenCall) {
	reply.Calls, reply.CallFaults = calls, nil
	for n, w := range calls {
		tokens, f := TargetInstances(input, w)
		if f != nil {
			reply.CallFaults = append(reply.CallFaults, turn.CallFault{Index: n + 1, Fault: *f})
		}
		reply.InstancesWithoutCalls = slices.DeleteFunc(reply.InstancesWithoutCalls, func(t string) bool { return slices.Contains(tokens, t) })
	}
}

// Reject has the reply bring nothing: none of its Calls, no output, and no instance settles by it.
func (p Pending) Reject(reply *turn.LLMReply, d turn.Decision) {
	reply.Calls, reply.CallFaults, reply.InstancesWithoutCalls, reply.Output, reply.OutputFault = nil, nil, nil, nil, nil
	reply.Complete, reply.Fault = false, diag.Faultf(CodeRejected, "%s", p.ToldOfRejection(d))
}

// WithLargeValues returns the Calls of an amendment in which those that a person left as they were shown are the planned ones: what stands in them for
// a value in the store means that value, which nothing that comes from outside does.
func (p Pending) WithLargeValues(calls []ideafile.WrittenCall) []ideafile.WrittenCall {
	out := slices.Clone(calls)
	for n, w := range calls {
		for _, planned := range p.Calls {
			if jsonval.Equal(w.RawValue(), jsonval.EscapeBlobHandles(planned.Written.RawValue())) {
				out[n] = planned.Written
			}
		}
	}
	return out
}
