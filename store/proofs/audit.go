package proofs

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/approval/proof"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// ProofVerifier checks signatures. *signing.Keys implements it.
type ProofVerifier interface {
	Verify(jws string) proof.Verification
}

// Counts counts how people's decisions on Calls and on Plans are proven.
type Counts struct {
	// Declared counts the decisions that only name their decider, Signed the decisions with a proof.
	Declared int `json:"declared"`
	Signed   int `json:"signed"`
	// Proven counts the signed decisions whose signatures verify. It is 0 without keys.
	Proven int `json:"proven"`
	// Inherited counts the proofs of decisions in processes that this one was forked from.
	Inherited int `json:"carried,omitempty"`
}

// Audit checks the decisions of one chain.
type Audit struct {
	Counts
	verifier        ProofVerifier // nil: signatures are not checked
	isProofUsedByID map[string]bool
	ordersByID      map[string]*standingOrder // standing orders, by their ids
	// deputyOrders are the orders that name a deputy.
	deputyOrders []*standingOrder
}

// New begins an audit. With verifier nil it checks everything but the signatures.
func New(verifier ProofVerifier) *Audit {
	return &Audit{verifier: verifier, isProofUsedByID: map[string]bool{}, ordersByID: map[string]*standingOrder{}}
}

// CheckDecisionsOfIdea checks the decisions in the log of an Idea, and returns the problems of each.
func (a *Audit) CheckDecisionsOfIdea(processID string, log any) (problems []string) {
	if log == nil {
		return nil
	}
	entries, err := turn.DecodeLog(log)
	if err != nil {
		return []string{err.Error()}
	}
	problems = a.collectOrders(processID, entries)
	for _, e := range entries {
		if e.Decision == nil || e.IsWrite() || !isByPerson(*e.Decision) {
			continue
		}
		d, callOrPlanName := *e.Decision, e.Decision.CallID
		if d.PlanRequest != nil {
			plan := approval.PlanAwaitingDecision{RequestNumber: *d.PlanRequest}
			d.CallID, callOrPlanName = plan.ProofCallID(), plan.Name()
		}
		if reason := a.decisionProblem(processID, d); reason != "" {
			problems = append(problems, fmt.Sprintf("the decision on %s by %s: %s", callOrPlanName, d.DecidedBy,
				reason))
		}
	}
	return problems
}

// isByPerson reports whether a person took the decision, on a Call or on a Plan.
func isByPerson(d approval.Decision) bool {
	if d.Kind == approval.HandOver {
		return d.Proof != "" || d.Signature != nil
	}
	systemDeciders := []string{approval.DecidedByTimeout, approval.DecidedByProcess, ideafile.SimulatedDecider}
	isDecision := d.PlanRequest != nil || slices.Contains(policy.DecisionKinds(), d.Kind) && d.CallID != ""
	return isDecision && !slices.Contains(systemDeciders, d.DecidedBy)
}

func (a *Audit) decisionProblem(processID string, d approval.Decision) string {
	if reason := a.deputyDenialReason(processID, d); reason != "" {
		return reason
	}
	switch {
	case d.Proof == "" && d.Signature != nil:
		return "its proof is gone"
	case d.Proof == "" && d.Deciders.RequiresSignature():
		return "it has no proof, but its policy wants one"
	case d.Proof == "":
		a.Declared++
		return ""
	}
	a.Signed++
	if d.Signature == nil {
		return "its proof was never checked"
	}
	proofID := d.Signature.Issuer + "\n" + d.Signature.ID
	if d.StandingOrderID != "" {
		proofID += "\n" + d.CallID // one proof for all Calls that the order covers
	}
	if a.isProofUsedByID[proofID] {
		return "its proof counts for another decision already"
	}
	a.isProofUsedByID[proofID] = true
	if reason := a.proofProblem(processID, d); reason != "" {
		return reason
	}
	if d.Kind == policy.Amend && !ranAsAmended(d) {
		return "it ran with other parameters than the proof says"
	}
	return ""
}

// proofProblem compares a proof with its decision, and with the keys.
func (a *Audit) proofProblem(processID string, d approval.Decision) string {
	verification := a.verifyOrReadProof(d.Proof)
	if a.verifier == nil {
		verification.KeyThumbprint = d.Signature.KeyThumbprint
	}
	c := verification.Claims
	if err := verification.CheckTime(time.Time{}, d.DecidedAt); err != nil {
		return err.Error()
	}
	if processID == "" {
		processID = c.ProcessID
	}
	expectedDecision, reason := a.decisionToProve(processID, d, c)
	if err := c.CheckMatches(expectedDecision); err != nil {
		return err.Error()
	}
	switch {
	case reason != "":
		return reason
	case !policy.SameName(c.Subject, d.DecidedBy):
		return fmt.Sprintf("its proof is that of %s", c.Subject)
	case !slices.Equal(c.Groups, d.Groups):
		return fmt.Sprintf("its proof names the groups %q, and the decision %q", c.Groups, d.Groups)
	case c.SubjectID.Account != d.Account, c.Issuer != d.Signature.Issuer, c.ID != d.Signature.ID,
		d.Signature.Name != "" && d.Signature.Name != c.Name, verification.KeyThumbprint != d.Signature.KeyThumbprint:
		return "its proof is another than the one that was checked when it was taken"
	}
	if a.verifier != nil {
		a.Proven++
	}
	return ""
}

// verifyOrReadProof checks a proof with the keys; without keys it reads what the proof says.
func (a *Audit) verifyOrReadProof(jws string) (verification proof.Verification) {
	if a.verifier != nil {
		return a.verifier.Verify(jws)
	}
	verification.Claims, verification.RefusalReason = readUnverifiedClaims(jws)
	return verification
}

// readUnverifiedClaims reads what a proof says without a key.
func readUnverifiedClaims(jws string) (c proof.Claims, reason string) {
	parts := strings.Split(jws, ".")
	if len(parts) != 3 {
		return c, "its proof is no compact JWS"
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		c, err = proof.ReadClaims(payload)
	}
	if err != nil {
		return c, err.Error()
	}
	return c, ""
}

// ranAsAmended reports whether an amended Call ran with the shown parameters as the amendment changed them; null
// removes a member.
func ranAsAmended(d approval.Decision) bool {
	signedParams := d.Signature.AmendedParams
	for k, v := range jsonval.Sorted(d.ShownParams) {
		if _, isSigned := signedParams[k]; !isSigned && !jsonval.Equal(d.AmendedParams[k], v) {
			return false
		}
	}
	for k, v := range jsonval.Sorted(d.AmendedParams) {
		signedValue, isSigned := signedParams[k]
		shownValue, wasShown := d.ShownParams[k]
		if (!isSigned && !wasShown) ||
			(isSigned && !jsonval.Equal(withoutNulls(v),
				withoutNulls(jsonval.DeepMerge(shownValue, signedValue)))) {
			return false
		}
	}
	return true
}

func withoutNulls(v any) any {
	m, isObject := v.(jsonval.Object)
	if !isObject {
		return v
	}
	out := jsonval.Object{}
	for k, e := range m {
		if e != nil {
			out[k] = withoutNulls(e)
		}
	}
	return out
}

// CheckInheritedProofs checks the proofs that the first Idea of a fork has from its origins: those in the records of
// Plans, and those of the earlier deciders of Calls.
func (a *Audit) CheckInheritedProofs(idea jsonval.Object) (problems []string) {
	addProblem := func(call, decider, reason string) {
		if reason != "" {
			problems = append(problems,
				fmt.Sprintf("the decision on %s by %s, from an earlier process: %s", call, decider, reason))
		}
	}
	for _, raw := range jsonval.AsList(idea["context"]) {
		record := jsonval.AsObject(jsonval.Lookup(raw, "record"))
		for _, v := range jsonval.Sorted(record) {
			for _, d := range turn.RecordedDecisions(v) {
				if d.Proof != "" && d.Signature != nil {
					addProblem(d.CallID, d.DecidedBy, a.inheritedProofProblem(d))
				}
			}
		}
	}
	for _, e := range policy.ReadDecisionsBeforeFork(idea) {
		if e.Proof == "" {
			continue
		}
		a.Counts.Inherited++
		verification := a.verifyOrReadProof(e.Proof)
		c, reason := verification.Claims, verification.RefusalReason
		if reason == "" && (!ideafile.MatchesCallID(c.CallID, e.CallID) || !policy.SameName(c.Subject, e.DecidedBy)) {
			reason = fmt.Sprintf("its proof is that of %s, for %s", c.Subject, c.CallID)
		}
		addProblem(e.CallID, e.DecidedBy, reason)
	}
	return problems
}

func (a *Audit) inheritedProofProblem(d approval.Decision) string {
	a.Counts.Inherited++
	provenCountBefore := a.Proven
	reason := a.proofProblem("", d)
	a.Proven = provenCountBefore
	return reason
}
