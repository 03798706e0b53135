package client

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"processidea/client/internal/kind"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/protocol"
)

// What a person can decide on a Call that waits.
const (
	Approve = policy.Approve // it runs as it is shown
	Reject  = policy.Reject  // it does not run; the reason goes to the LLM
	Amend   = policy.Amend   // it runs with other parameters
	Replace = policy.Replace // another Call takes its place
	Answer  = policy.Answer  // a person gives its result; nothing runs
)

// What a person can do about a Call that waits without deciding. All of them need By.
const (
	Comment  = approval.Comment  // send Reason to the deciders
	Ask      = approval.Ask      // ask To, or somebody of ToGroup, or who started the process
	HandOver = approval.HandOver // have To, or somebody of ToGroup, decide
)

// Decision is what somebody decides on a Call that waits.
type Decision struct {
	// CallID is the id as Approval.CallID has it, or in its typeable form.
	CallID string `json:"call" minLength:"1" doc:"the id of the Call, as the approval has it, or as it is typed: 1.2@13 for 1.2@⑬"`
	// Kind is Approve, Reject, Amend, Replace or Answer; Comment, Ask or HandOver.
	Kind string `json:"decision" enum:"approve,reject,amend,replace,answer,comment,ask,hand-over" doc:"the last three decide nothing"`
	// ApprovalDigest is the Approval.Digest that was shown: the decision applies to nothing else. Empty: it applies to
	// what waits now.
	ApprovalDigest string `json:"digest,omitempty" required:"true" minLength:"64" maxLength:"64" doc:"the digest of what was shown, as the approval has it: nothing else is decided on"`
	// By is who decides, Groups are the groups that this person claims.
	By     string   `json:"by,omitempty" doc:"who decides: the token's person, unless the token is the one that the gateway printed"`
	Groups []string `json:"groups,omitempty" nullable:"false" doc:"as by"`
	// Reason is why. For Comment and Ask it is the text of the remark.
	Reason string `json:"reason,omitempty" doc:"why; the LLM is told. reject needs one"`
	// ToPerson and ToGroup name the person or the group for Ask and HandOver.
	ToPerson string `json:"to,omitempty" doc:"of ask and hand-over: a person"`
	ToGroup  string `json:"toGroup,omitempty" doc:"of ask and hand-over: a group"`
	// IsForRequest has the LLM told of the question of Ask and of what people answer, in the next Request.
	IsForRequest bool `json:"forRequest,omitempty" doc:"of ask: the LLM is told of the question and of what is answered, in the next Request"`
	// Proof is the signature of the decision, if it has one.
	Proof string `json:"proof,omitempty" doc:"the signature of the decision, if the person who decides made it"`
	// Key signs the decision when it is sent, unless it has a Proof. With a Key, By may be empty: the proof says who
	// decides. Nil: the decision is not signed.
	Key Signer `json:"-"`
	// Value is, for Amend, an object of the parameters that change; for Replace, the new Call, an object as the LLM
	// writes it; for Answer, the result. Numbers may be json.Number. At most 64 KB as JSON.
	Value any `json:"-"`
}

// valueKeyByKind are the keys under which a decision's signal carries its value.
var valueKeyByKind = map[string]string{Amend: "params", Replace: "with", Answer: "output"}

// payload returns the payload of the decision's signal, which is named after the kind. A nil Value means no parameters,
// no Call, or the result null.
func (d Decision) payload() jsonval.Object {
	p := toObject(d)
	delete(p, "decision")
	if key, ok := valueKeyByKind[d.Kind]; ok {
		p[key] = jsonval.ToJSONValue(d.Value) // the signed value is the sent value, digit by digit
	}
	return p
}

// toObject converts a Go value to the JSON object that it encodes to.
func toObject(v any) jsonval.Object { return jsonval.AsObject(jsonval.ToJSONValue(v)) }

// Validate checks the form of a decision locally; the error wraps ErrInvalid.
func (d Decision) Validate() error {
	switch d.Kind {
	case Approve, Reject, Amend, Replace, Answer, Comment, Ask, HandOver:
	default:
		return kind.Errorf(ErrInvalid, "there is no decision %q", d.Kind)
	}
	payload := d.payload()
	if d.Key != nil && d.Proof == "" && approval.AcceptsProof(d.Kind) {
		payload["proof"] = "made when it is sent" // stands for the signature, which names who decides
	}
	_, err := approval.ReadDecision(d.Kind, payload)
	return kind.WithKind(ErrInvalid, err)
}

// Decide sends a decision and waits until it has taken effect. The error is a *RefusedError if the process refused it:
// the Call no longer waits, it is not the Call of the digest, or the parameters do not fit. It wraps ErrInvalid if the
// decision is malformed, and ErrUnreachable if the server stops answering. Without a worker it waits for one.
func (p *Process) Decide(ctx context.Context, d Decision) error {
	_, err := p.DecideAndCountVotes(ctx, d)
	return err
}

// VoteCount is how many people have decided the same, and how many must: at 1 of 2 a Call, or a Plan, still waits for
// another person.
type VoteCount = approval.VoteCount

// DecideAndCountVotes is Decide, and returns how many people have decided the same by now.
func (p *Process) DecideAndCountVotes(ctx context.Context, d Decision) (votes VoteCount, err error) {
	if err := d.Validate(); err != nil {
		return votes, kind.Errorf(ErrInvalid, "%s %s: %w", d.Kind, d.CallID, err)
	}
	instanceID, err := p.instanceID(ctx, d.CallID)
	if err != nil {
		return votes, p.refusedError(d, err)
	}
	if d, err = p.sign(ctx, instanceID, d); err != nil {
		return votes, err
	}
	return p.signalAndAwaitOutcome(ctx, instanceID, d.Kind, d.CallID, d.payload(), func() error {
		return p.notWaitingError(ctx, instanceID, d.CallID)
	}, nil)
}

func (p *Process) refusedError(d Decision, cause error) error {
	return &RefusedError{ProcessID: p.id, Signal: d.Kind, CallID: d.CallID, Reason: cause.Error()}
}

// instanceID returns the workflow id of the instance that a Call's id names, as ⑬ or as 13. It fails if there is no
// such instance. A process that does not answer counts as not split.
func (p *Process) instanceID(ctx context.Context, callID string) (string, error) {
	v, _ := p.Status(ctx)
	id, known := p.instanceIDFromStatus(v, callID)
	if !known {
		return "", approval.UnknownCallError(callID, nil, p.pendingCalls(ctx))
	}
	return id, nil
}

// instanceIDFromStatus is instanceID with a known Status, which is zero if the process does not answer.
func (p *Process) instanceIDFromStatus(v Status, callID string) (id string, isKnown bool) {
	typedToken := ideafile.InstanceTokenOfCallID(callID)
	if len(v.Instances) == 0 {
		return protocol.InstanceID(p.id, typedToken), true
	}
	token := typedToken
	if _, isKnown = v.Instances[typedToken]; !isKnown && typedToken != "" {
		token, isKnown = spelling.FindInstanceToken(slices.Collect(maps.Keys(v.Instances)), typedToken)
	}
	return v.InstanceID(token), isKnown
}

// pendingCalls lists what waits for a person; it is empty if the process does not answer.
func (p *Process) pendingCalls(ctx context.Context) (list []approval.PendingCall) {
	var v protocol.ProcessApprovals
	if p.client.query(ctx, p.id, protocol.QueryApprovals, &v) != nil {
		return nil
	}
	for _, a := range v.Approvals {
		list = append(list, a.PendingCall)
	}
	return list
}

// notWaitingError says why a Call does not wait, when its instance accepts no more signals: the Call's outcome, if the
// instance still answers.
func (p *Process) notWaitingError(ctx context.Context, instanceID, callID string) error {
	var v InstanceStatus
	if err := p.client.queryWithTimeout(ctx, slowQueryTimeout, instanceID, protocol.QueryStatus, &v); err != nil {
		return fmt.Errorf("nothing waits there: %s has ended, or has no Call %s", p.id, callID)
	}
	var callIDs []string
	for _, c := range v.Calls {
		if c.ID == ideafile.CallIDWithExactToken(callID, ideafile.InstanceTokenOfCallID(c.ID)) {
			return approval.CallNotWaitingError(c.ID, c.Status, c.Decisions)
		}
		callIDs = append(callIDs, c.ID)
	}
	return approval.UnknownCallError(callID, callIDs, p.pendingCalls(ctx))
}
