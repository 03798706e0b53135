package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// The signals by which people decide on a Plan that waits as a whole.
const (
	SteerApprovePlan = "approve-plan"
	SteerAmendPlan   = "amend-plan"
	SteerRejectPlan  = "reject-plan"
)

// Error codes of Plans on which people decided. The next Request reports both.
const (
	CodePlanRejected = "plan_rejected"
	CodePlanAmended  = "plan_amended"
)

// maxAmendedCalls bounds the Calls of one signal: a larger Plan is better requested in parts.
const maxAmendedCalls = 1000

// DeputiesKey is the key under which a whole process sends Orders.DeputyRemarks to a part.
const DeputiesKey = "deputies"

// ReadPlanDecision reads the payload of a decision on a Plan. Its keys are request, digest, by, groups, reason, proof
// and id. amend-plan also has calls: all Calls of the amended Plan, in the form in which the LLM writes them. A signal
// to a part may have DeputiesKey.
func ReadPlanDecision(kind string, m jsonval.Object) (d Decision, err error) {
	d.Kind = kind
	if d.PlanRequest, err = readRequestNumber(m["request"]); err != nil {
		return d, err
	}
	payloadKey := ""
	if kind == SteerAmendPlan {
		payloadKey = "calls"
	}
	textTargets := commonTextTargets(&d.SignalID, &d.DecidedBy, &d.Reason, &d.Account)
	textTargets["digest"], textTargets["proof"] = &d.ApprovalDigest, &d.Proof
	err = readTextFields(m, textTargets, &d.Groups, "request", DeputiesKey, payloadKey)
	d.readDeputies(m[DeputiesKey])
	switch {
	case err != nil:
		return d, err
	case kind == SteerRejectPlan && strings.TrimSpace(d.Reason) == "":
		return d, errors.New(`a rejection says why: "reason" is missing`)
	case kind == SteerAmendPlan:
		d.AmendedCalls, err = readAmendedCalls(m["calls"])
	}
	return d, err
}

// readDeputies reads deputies as declared, because a signal cannot vouch for proofs: it ignores Signed.
func (d *Decision) readDeputies(v any) {
	var list []Decision
	_ = json.Unmarshal(jsonval.Encode(v), &list) // a value that is no list names nobody
	for _, r := range list {
		if r.Signature = nil; r.Kind == SteerDeputy && r.Order != nil {
			d.DeputyRemarks = append(d.DeputyRemarks, r)
		}
	}
}

// readRequestNumber reads the number of the Request that made the Plan; 0 for a Plan without a Request.
func readRequestNumber(v any) (*int, error) {
	number, _ := v.(json.Number)
	n, err := number.Int64()
	switch {
	case v == nil:
		return nil, errors.New(`it names no Plan: "request" is missing, the number of the Request that made it`)
	case err != nil || n < 0:
		return nil, fmt.Errorf(`"request" is the number of a Request, or 0, not %s`,
			jsonval.Clip(jsonval.EncodeToString(v), 40))
	}
	request := int(n)
	return &request, nil
}

func readAmendedCalls(v any) ([]ideafile.WrittenCall, error) {
	list, ok := v.([]any)
	switch {
	case !ok:
		return nil, fmt.Errorf(`amend-plan wants "calls", a list of all Calls of the Plan, not %s`, jsonval.TypeOf(v))
	case len(list) == 0:
		return nil, errors.New(`"calls" is empty: to run none of them, use reject-plan`)
	case len(list) > maxAmendedCalls:
		return nil, fmt.Errorf(`"calls" has %d Calls, more than %d`, len(list), maxAmendedCalls)
	}
	calls := ideafile.ParseWrittenCalls(list)
	for n, call := range calls {
		if err := CheckNoPlaceholder("_tool", call.Tool); err != nil {
			return nil, fmt.Errorf("calls[%d]: %w", n, err)
		}
	}
	return calls, nil
}
