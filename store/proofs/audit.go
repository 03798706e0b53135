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

// Keys check signatures. *signing.Keys implements it.
type Keys interface {
	Verify(jws string) proof.Finding
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
	keys   Keys // nil: signatures are not checked
	used   map[string]bool
	orders map[string]*order // standing orders, by their ids
	// deputies are the orders that name a deputy.
	deputies []*order
}

// New begins an audit. With keys nil it checks everything but the signatures.
func New(keys Keys) *Audit {
	return &Audit{keys: keys, used: map[string]bool{}, orders: map[string]*order{}}
}

// CheckLog checks the decisions in the log of an Idea, and returns the problems of each.
func (a *Audit) CheckLog(process string, log any) (problems []string) {
	if log == nil {
		return nil
	}
	entries, err := turn.DecodeLog(log)
	if err != nil {
		return []string{err.Error()}
	}
	problems = a.noteOrders(process, entries)
	for _, e := range entries {
		if e.Decision == nil || e.IsWrite() || !isByPerson(*e.Decision) {
			continue
		}
		d, about := *e.Decision, e.Decision.CallID
		if d.PlanRequest != nil {
			plan := approval.Plan{Request: *d.PlanRequest}
			d.CallID, about = plan.ProofCall(), plan.Name()
		}
		if why := a.checkDecision(process, d); why != "" {
			problems = append(problems, fmt.Sprintf("the decision on %s by %s: %s", about, d.DecidedBy, why))
		}
	}
	return problems
}

// isByPerson reports whether a person took the decision, on a Call or on a Plan.
func isByPerson(d approval.Decision) bool {
	if d.Kind == approval.HandOver {
		return d.Proof != "" || d.Signed != nil
	}
	own := []string{approval.DecidedByTimeout, approval.DecidedByProcess, ideafile.SimulatedPerson}
	isDecision := d.PlanRequest != nil || slices.Contains(policy.AllKinds(), d.Kind) && d.CallID != ""
	return isDecision && !slices.Contains(own, d.DecidedBy)
}

func (a *Audit) checkDecision(process string, d approval.Decision) string {
	if why := a.whyNoDeputy(process, d); why != "" {
		return why
	}
	switch {
	case d.Proof == "" && d.Signed != nil:
		return "its proof is gone"
	case d.Proof == "" && d.Deciders.Signed():
		return "it has no proof, but its policy wants one"
	case d.Proof == "":
		a.Declared++
		return ""
	}
	a.Signed++
	if d.Signed == nil {
		return "its proof was never checked"
	}
	id := d.Signed.Issuer + "\n" + d.Signed.ID
	if d.OrderID != "" {
		id += "\n" + d.CallID // one proof for all Calls that the order covers
	}
	if a.used[id] {
		return "its proof counts for another decision already"
	}
	a.used[id] = true
	if why := a.checkProof(process, d); why != "" {
		return why
	}
	if d.Kind == policy.Amend && !ranAsAmended(d) {
		return "it ran with other parameters than the proof says"
	}
	return ""
}

// checkProof compares a proof with its decision, and with the keys.
func (a *Audit) checkProof(process string, d approval.Decision) string {
	f := a.readProof(d.Proof)
	if a.keys == nil {
		f.Key = d.Signed.Key
	}
	c := f.Claims
	if err := f.CheckTime(time.Time{}, d.DecidedAt); err != nil {
		return err.Error()
	}
	if process == "" {
		process = c.Process
	}
	toProve, why := a.claimToProve(process, d, c)
	if err := c.CheckFor(toProve); err != nil {
		return err.Error()
	}
	switch {
	case why != "":
		return why
	case !policy.SameName(c.Subject, d.DecidedBy):
		return fmt.Sprintf("its proof is that of %s", c.Subject)
	case !slices.Equal(c.Groups, d.Groups):
		return fmt.Sprintf("its proof names the groups %q, and the decision %q", c.Groups, d.Groups)
	case c.SubjectID.Account != d.Account, c.Issuer != d.Signed.Issuer, c.ID != d.Signed.ID, d.Signed.Name != "" &&
		d.Signed.Name != c.Name, f.Key != d.Signed.Key:
		return "its proof is another than the one that was checked when it was taken"
	}
	if a.keys != nil {
		a.Proven++
	}
	return ""
}

// readProof checks a proof with the keys; without keys it reads what the proof says.
func (a *Audit) readProof(jws string) (f proof.Finding) {
	if a.keys != nil {
		return a.keys.Verify(jws)
	}
	f.Claims, f.Refused = readUnchecked(jws)
	return f
}

// readUnchecked reads what a proof says without a key.
func readUnchecked(jws string) (c proof.Claims, why string) {
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
	signedParams := d.Signed.Params
	for k, v := range jsonval.Sorted(d.ShownParams) {
		if _, changed := signedParams[k]; !changed && !jsonval.Equal(d.AmendedParams[k], v) {
			return false
		}
	}
	for k, v := range jsonval.Sorted(d.AmendedParams) {
		change, changed := signedParams[k]
		shown, wasShown := d.ShownParams[k]
		if (!changed && !wasShown) ||
			(changed && !jsonval.Equal(withoutNulls(v),
				withoutNulls(jsonval.DeepMerge(shown, change)))) {
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

// VerifyInherited checks the proofs that the first Idea of a fork has from its origins: those in the records of Plans,
// and those of the earlier deciders of Calls.
func (a *Audit) VerifyInherited(idea jsonval.Object) (problems []string) {
	note := func(call, by, why string) {
		if why != "" {
			problems = append(problems,
				fmt.Sprintf("the decision on %s by %s, from an earlier process: %s", call, by, why))
		}
	}
	for _, raw := range jsonval.AsList(idea["context"]) {
		record := jsonval.AsObject(jsonval.At(raw, "record"))
		for _, v := range jsonval.Sorted(record) {
			for _, d := range turn.RecordedDecisions(v) {
				if d.Proof != "" && d.Signed != nil {
					note(d.CallID, d.DecidedBy, a.verifyInherited(d))
				}
			}
		}
	}
	for _, e := range policy.ReadPriorDecisions(idea) {
		if e.Proof == "" {
			continue
		}
		a.Counts.Inherited++
		f := a.readProof(e.Proof)
		c, why := f.Claims, f.Refused
		if why == "" && (!ideafile.IsCallID(c.Call, e.CallID) || !policy.SameName(c.Subject, e.By)) {
			why = fmt.Sprintf("its proof is that of %s, for %s", c.Subject, c.Call)
		}
		note(e.CallID, e.By, why)
	}
	return problems
}

func (a *Audit) verifyInherited(d approval.Decision) string {
	a.Counts.Inherited++
	proven := a.Proven
	why := a.checkProof("", d)
	a.Proven = proven
	return why
}
