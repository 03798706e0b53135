package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"processidea/client/internal/kind"
	"processidea/model/approval"
	"processidea/model/check/plangraph"
	"processidea/model/ideafile"
	"processidea/model/ideafile/price"
	"processidea/model/ideafile/shown"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/refexpr"
	"processidea/protocol"
	"processidea/store/signing"
)

// DescribedPlan is a Plan that waits as a whole for a person: none of it has begun. Its fields are Process (the part,
// in a split process), the fields of approval.Plan, its picture, and what earlier processes of the same Idea used.
type DescribedPlan struct {
	protocol.PlanView
	// Mermaid is a diagram of the Plan.
	Mermaid string `json:"mermaid"`
	// DiagramCalls are the Calls for diagrams, with what their Tools fix.
	DiagramCalls []any `json:"-"`
	// CallCountsByTool counts the Calls that would run, once for each instance.
	CallCountsByTool []approval.PlanToolCount `json:"callsByTool"`
	// Edges say what each Call reads, and from which other Call.
	Edges []plangraph.Edge `json:"edges"`
	// LaterApprovals lists the Calls that a person must still decide on before they run, even after the Plan is
	// approved; nil if that is unknown.
	LaterApprovals []LaterApproval `json:"askedLater"`
	// Averages is what earlier processes used on average; nil if there were none.
	Averages *HistoricalAverages `json:"past"`
	// PlannedCalls describes what the Plan would do, in its order, up to 1,000 Calls.
	PlannedCalls []PlannedCall `json:"-"`
}

// PlannedCall is what a Call of a waiting Plan would do in one instance, in the words of the business: its Title,
// Sentence and Fields, CallID, Instance, and the Error with which it will fail.
type PlannedCall = approval.PlannedCallInWords

// HistoricalAverages is what the latest completed processes of one path used on average.
type HistoricalAverages struct {
	ProcessPath  string      `json:"path"`
	ProcessCount int         `json:"processes"`
	Instances    float64     `json:"instances"`
	Requests     float64     `json:"requests"`
	Calls        float64     `json:"calls"`
	Tokens       float64     `json:"tokens"`
	Cost         price.Money `json:"cost,omitempty"`
}

// String describes the averages for people.
func (r HistoricalAverages) String() string {
	s := fmt.Sprintf(
		"the last %d completed processes of %s took, on average, %.3g instances, %.3g Requests, %.3g Calls, %.6g "+
			"tokens",
		r.ProcessCount, r.ProcessPath, r.Instances, r.Requests, r.Calls, r.Tokens)
	if r.Cost > 0 {
		s += ", " + r.Cost.String()
	}
	return s
}

// WaitingPlans lists the Plans that wait, in the process and its parts.
func (p *Process) WaitingPlans(ctx context.Context) ([]DescribedPlan, error) {
	v, err := p.queryWaiting(ctx)
	if err != nil {
		return nil, err
	}
	list := []DescribedPlan{} // a list even where nothing waits
	if len(v.Plans) == 0 {
		return list, nil
	}
	p.addPlanSentences(ctx, v.Plans)
	averages := p.historicalAverages(ctx)
	idea, err := p.client.Process(v.Plans[0].Process).Idea(ctx)
	if err != nil {
		idea = nil // unknown which Calls people decide on later
	}
	presenter := p.client.Process(v.Plans[0].Process).Presenter(ctx)
	for _, pending := range v.Plans {
		plan := describePlan(pending, idea, presenter, LanguageOf(ctx))
		plan.Averages = averages
		list = append(list, plan)
	}
	return list, nil
}

// describePlan describes a Plan without its Averages; idea is nil if it is unknown.
func describePlan(p PendingPlan, idea *ideafile.Idea, presenter *shown.Presenter, l shown.Language) DescribedPlan {
	calls := ideafile.RawWrittenCalls(jsonval.Map(p.WrittenCalls(), idea.WithToolFixedValues))
	plan := DescribedPlan{
		PlanView: p, CallCountsByTool: p.CountByTool(), DiagramCalls: calls,
		Mermaid: plangraph.RenderMermaid(calls), Edges: plangraph.ListEdges(calls, plangraph.Labels{}),
		LaterApprovals: findLaterApprovals(p, idea),
	}
	plan.PlannedCalls = p.DescribeCalls(idea, presenter, l, func(n int) bool {
		return plangraph.ReadsOtherCall(plan.Edges, n+1)
	})
	return plan
}

// DescribeAmended describes a waiting Plan of the process as it would be with other Calls. Only the process decides
// whether they can run: a Call that is for no known instance counts once.
func DescribeAmended(p PendingPlan, calls []any, idea *ideafile.Idea, presenter *shown.Presenter,
	l shown.Language) DescribedPlan {
	tokens := p.Instances
	if len(tokens) == 0 {
		tokens = []string{""} // the only one
	}
	p.Calls = nil
	for n, w := range ideafile.ParseWrittenCalls(calls) {
		palette := ideafile.Palette{InstanceTokens: tokens, ReopenableTokens: w.TargetTokens,
			UntargetedCallsGoToAll: p.RequestNumber == 0}
		c := approval.PlanCall{CallID: ideafile.FormatCallID(p.RequestNumber, n+1, ""), WrittenCall: w}
		c.Instances, _ = palette.TargetInstances(w)
		p.Calls = append(p.Calls, c)
	}
	return describePlan(p, idea, presenter, l)
}

// LaterApproval is a Call of a Plan about which a person will be asked again before it runs.
type LaterApproval struct {
	CallID string `json:"call"`
	// Certainty is AskedAlways, or AskedPerhaps if the policy depends on values that are not known yet.
	Certainty string `json:"when"`
}

// These are the values of LaterApproval.Certainty.
const (
	AskedAlways  = "always"
	AskedPerhaps = "perhaps"
)

// findLaterApprovals judges the Calls by the policies of their Tools; nil if the Idea is unknown or has no Tools.
func findLaterApprovals(p PendingPlan, idea *ideafile.Idea) (list []LaterApproval) {
	if idea == nil || len(idea.Tools) == 0 {
		return nil
	}
	list = []LaterApproval{}
	for _, c := range p.Calls {
		t := idea.Tool(c.WrittenCall.Tool)
		if t == nil {
			continue
		}
		toolPolicy := idea.Config.ApprovalOversight.PolicyFor(t.Name, t.Approval)
		params := jsonval.AsObject(jsonschema.WithoutMetaKeys(c.WrittenCall.RawObject()))
		expressions, err := refexpr.FindExpressions(params)
		switch {
		case ideafile.UndoReviewReason(c.WrittenCall) != "":
			list = append(list, LaterApproval{c.CallID, AskedAlways})
		case toolPolicy == nil:
		case toolPolicy.ParamsCondition != nil && (len(t.WiredExpressionByParam)+len(expressions) > 0 || err != nil):
			list = append(list, LaterApproval{c.CallID, AskedPerhaps})
		case toolPolicy.ParamsCondition == nil, toolPolicy.RequiresReviewOf(params):
			list = append(list, LaterApproval{c.CallID, AskedAlways})
		}
	}
	return list
}

// WaitingPlans lists the Plans that wait in all processes. Its errors are those of Client.Approvals.
func (c *Client) WaitingPlans(ctx context.Context) ([]DescribedPlan, error) {
	planLists, err := queryProcessesAwaitingPeople(ctx, c, (*Process).WaitingPlans)
	return append([]DescribedPlan{}, slices.Concat(planLists...)...), err // a list even where nothing waits
}

// maxAveragedProcesses bounds how many processes the averages are computed from.
const maxAveragedProcesses = 10

// historicalAverages averages the latest completed processes of the same path; nil if there are none, or the server
// cannot list them.
func (p *Process) historicalAverages(ctx context.Context) *HistoricalAverages {
	info, err := p.describe(ctx)
	if err != nil {
		return nil
	}
	processPath := p.client.newProcessSummary(info).ProcessPath
	if processPath == "" {
		return nil
	}
	page, err := p.client.ListPage(ctx, ProcessFilter{Status: loop.StatusCompleted, ProcessPath: processPath},
		maxAveragedProcesses, nil)
	if err != nil {
		return nil // the server does not know the search attributes
	}
	sum, cost := HistoricalAverages{ProcessPath: processPath}, 0.0
	for _, s := range page.Processes {
		r, err := p.client.Process(s.ProcessID).Result(ctx)
		if err != nil || sum.ProcessCount == maxAveragedProcesses {
			continue
		}
		sum.ProcessCount++
		sum.Instances += float64(len(r.Instances))
		sum.Requests += float64(r.RequestCount)
		sum.Calls += float64(r.Calls.Total())
		sum.Tokens += float64(r.Usage.Total())
		cost += float64(r.Usage.Cost)
	}
	if sum.ProcessCount == 0 {
		return nil
	}
	n := float64(sum.ProcessCount)
	sum.Instances, sum.Requests, sum.Calls, sum.Tokens, sum.Cost = sum.Instances/n, sum.Requests/n, sum.Calls/n,
		sum.Tokens/n, price.Money(cost/n)
	return &sum
}

// PlanDecision is a person's decision on a waiting Plan.
type PlanDecision struct {
	// Kind is Approve, Amend or Reject.
	Kind string `json:"decision" enum:"approve,amend,reject"`
	// RequestNumber and PlanDigest name the Plan. Without a PlanDigest, the decision applies to the Plan of the Request
	// that waits when it is made.
	RequestNumber int    `json:"-"`
	PlanDigest    string `json:"digest,omitempty" required:"true" minLength:"64" maxLength:"64" doc:"the digest of the Plan that was shown: nothing else is decided on"`
	// Calls are all Calls of an amended Plan.
	Calls  Objects  `json:"calls,omitempty" nullable:"false" maxItems:"1000" doc:"of amend: all Calls of the Plan as it is to run, as the LLM writes them"`
	By     string   `json:"by,omitempty" doc:"who decides: the token's person, unless the token is the one that the gateway printed"`
	Groups []string `json:"groups,omitempty" nullable:"false" doc:"as by"`
	Reason string   `json:"reason,omitempty" doc:"why; the LLM is told. reject needs one"`
	// Key signs the decision; nil: it is not signed. Proof is a compact JWS made elsewhere, and takes precedence.
	Key   Signer `json:"-"`
	Proof string `json:"proof,omitempty" doc:"the signature of the decision, if the person who decides made it"`
}

// signalName returns the name of the decision's signal: approve-plan, amend-plan or reject-plan.
func (d PlanDecision) signalName() string { return d.Kind + "-plan" }

func (d PlanDecision) payload() jsonval.Object {
	m := toObject(d)
	delete(m, "decision")
	m["request"] = jsonval.ToJSONValue(d.RequestNumber)
	if d.Calls != nil { // an empty list of them is refused
		m["calls"] = jsonval.ToJSONValue(d.Calls)
	}
	return m
}

// Validate checks the form of a decision locally; the error wraps ErrInvalid.
func (d PlanDecision) Validate() error {
	if !slices.Contains([]string{Approve, Amend, Reject}, d.Kind) {
		return kind.Errorf(ErrInvalid, "there is no decision %q on a Plan", d.Kind)
	}
	_, err := approval.ReadPlanDecision(d.signalName(), d.payload())
	return kind.WithKind(ErrInvalid, err)
}

// PlanDecisionOutcome is the outcome of an accepted decision on a Plan.
type PlanDecisionOutcome struct {
	ProcessID     string    `json:"process" doc:"the one whose Plan it is: of a split one, the part"`
	RequestNumber int       `json:"request" doc:"the one that made the Plan; 0: it began the process"`
	Votes         VoteCount `json:"count" doc:"how many have decided the same, of how many must: with 1 of 2 the Plan still waits"`
}

// DecidePlan approves, amends or rejects a waiting Plan, and returns when that has taken effect. The error is a
// *RefusedError if the process refused it: no such Plan waits, the person may not decide, a Call of an amendment cannot
// run. It wraps ErrInvalid if the decision is malformed.
func (p *Process) DecidePlan(ctx context.Context, d PlanDecision) (outcome PlanDecisionOutcome, err error) {
	v, err := p.queryWaiting(ctx)
	if err != nil {
		return outcome, err
	}
	plan, err := d.findPlan(v.Plans)
	if err != nil {
		return outcome, &RefusedError{ProcessID: p.id, Signal: d.signalName(), Reason: err.Error()}
	}
	outcome.ProcessID, outcome.RequestNumber = plan.Process, plan.RequestNumber
	d.RequestNumber, d.PlanDigest = plan.RequestNumber, plan.Digest
	decision, err := approval.ReadPlanDecision(d.signalName(), d.payload())
	if err == nil && d.Key != nil && d.Proof == "" {
		decision.CallID, decision.ApprovalDigest = plan.ProofCallID(), plan.Digest
		d.Proof, err = d.Key.Sign(signing.NewClaims(decision.DecisionToProve(plan.Process), plan.Digest, d.Groups))
	}
	if err != nil {
		return outcome, kind.Errorf(ErrInvalid, "%s: %w", d.signalName(), err)
	}
	targetProcessID := plan.Process
	if len(plan.DeputyRemarks) > 0 { // only the whole knows them, not its parts
		targetProcessID = spelling.WholeProcessID(targetProcessID)
	}
	outcome.Votes, err = p.client.Process(targetProcessID).steerAndCountVotes(ctx, d.signalName(), d.payload())
	return outcome, err
}

// findPlan returns the Plan that the decision is about.
func (d PlanDecision) findPlan(plans []PendingPlan) (found PendingPlan, err error) {
	matchCount := 0
	for _, plan := range plans {
		if d.PlanDigest == plan.Digest || (d.PlanDigest == "" && d.RequestNumber == plan.RequestNumber) {
			found, matchCount = plan, matchCount+1
		}
	}
	switch {
	case len(plans) == 0:
		return found, errors.New("no Plan waits for a decision")
	case matchCount == 0 && d.PlanDigest != "":
		return found, errors.New("no Plan with that digest waits")
	case matchCount == 0:
		return found, fmt.Errorf("no Plan of Request %d waits", d.RequestNumber)
	case matchCount > 1:
		return found, fmt.Errorf("Plans of Request %d wait in %d parts: name one by its digest", d.RequestNumber,
			matchCount)
	}
	return found, nil
}
