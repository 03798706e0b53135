package api

import (
	"context"
	"encoding/json"
	"time"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval/proof"
	"processidea/model/jsonval"
)

func (a *API) addPeopleOperations() {
	const tag = "people"
	addGet(a, tag, "list-approvals", "/api/approvals", "List what waits for a person, in all processes",
		"Lists the Calls that wait for a person: exactly what would run, since when, who may decide, and the case.",
		func(ctx context.Context, _ *struct{}) (ApprovalList, error) {
			all, err := a.AllWaitingForPeople(ctx)
			return ApprovalList{all.Approvals, all.UnansweredProcessIDs}, err
		})
	addGet(a, tag, "list-process-approvals", "/api/processes/{id}/approvals",
		"List what waits for a person in a process",
		"Lists the Calls that wait for a person in a process and its delegates, or in one instance of it: "+
			"refunds%2F13. A decision goes to the process that a Call names.",
		func(ctx context.Context, in *ProcessTarget) (ApprovalList, error) {
			return a.ApprovalsWithDelegates(ctx, in.ID)
		})
	addGet(a, tag, "insights", "/api/insights", "Say how people's decisions go",
		"Says for each Tool how many Calls wait and since when, how many were decided and how, and how long "+
			"people took. It reads the chains, so it does not count yet what was decided since a process's latest "+
			"Idea.",
		func(ctx context.Context, in *struct {
			Since time.Time `query:"since" doc:"what was decided before does not count; absent: 30 days ago"`
		}) (*client.Insights, error) {
			return a.Insights(ctx, in.Since)
		})
	addOperationForAny(a, []access.Right{access.Decide, access.Look}, newPostOperation(tag, "decide", "/api/decisions",
		"Decide on Calls that wait",
		"Decides on up to 1,000 Calls, of any processes. Each decision gets a result of its own, in the order of "+
			"the decisions. Who decides is whoever the token names; where the gateway has a key, "+
			"it signs the decision for that person. With the right to look alone, a person may comment; a list with "+
			"another act is refused whole."),
		asHandler(func(ctx context.Context, in *struct{ Body decideBody }) (DecisionResults, error) {
			for _, d := range in.Body.Decisions {
				if err := CheckRightToAct(access.PersonFrom(ctx), d.Kind); err != nil {
					return DecisionResults{}, err
				}
			}
			return DecisionResults{a.Decide(ctx, in.Body.Decisions)}, nil
		}))
}

// ApprovalList lists what waits for a person.
type ApprovalList struct {
	Approvals            []client.Approval `json:"approvals" nullable:"false"`
	UnansweredProcessIDs []string          `json:"unanswered,omitempty" nullable:"false" doc:"processes that did not answer: what waits in them is missing"`
}

// Insights describes how people's decisions went since a time. A zero time means 30 days ago, to the minute.
func (a *API) Insights(ctx context.Context, since time.Time) (*client.Insights, error) {
	if since.IsZero() {
		since = time.Now().Add(-30 * 24 * time.Hour).UTC().Truncate(time.Minute)
	}
	return sharedAnswer(ctx, a, "insights\n"+since.String(), func(ctx context.Context) (*client.Insights, error) {
		return a.Client.Insights(ctx, since)
	})
}

// AllWaitingForPeople lists what waits for a person in all processes. The result is shared: do not change it.
func (a *API) AllWaitingForPeople(ctx context.Context) (client.WaitingItems, error) {
	return sharedAnswer(ctx, a, "waiting\n"+string(client.LanguageOf(ctx)), a.Client.ListWaiting)
}

// maxCountedHeldUp bounds the count of held-up processes.
const maxCountedHeldUp = 1000

// CountHeldUpProcesses counts the processes that are held up, up to maxCountedHeldUp. Callers share the answer.
func (a *API) CountHeldUpProcesses(ctx context.Context) (int, error) {
	return sharedAnswer(ctx, a, "held up", func(ctx context.Context) (int, error) {
		return a.Client.CountHeldUpProcesses(ctx, maxCountedHeldUp)
	})
}

// ApprovalsWithDelegates is AllWaitingForPeople for one process and its delegates, or for one of its instances. The
// error wraps client.ErrNotFound if the id is unknown.
func (a *API) ApprovalsWithDelegates(ctx context.Context, processID string) (ApprovalList, error) {
	return sharedAnswer(ctx, a, "approvals of\n"+string(client.LanguageOf(ctx))+"\n"+processID,
		func(ctx context.Context) (list ApprovalList, err error) {
			list.Approvals, err = a.Client.ApprovalsOf(ctx, processID)
			list.UnansweredProcessIDs, err = client.UnansweredProcessIDs(err)
			return list, err
		})
}

// ApprovalsIn is ApprovalsWithDelegates without the delegates.
func (a *API) ApprovalsIn(ctx context.Context, processID string) ([]client.Approval, error) {
	p, err := a.Client.Attach(ctx, processID)
	if err != nil {
		return nil, err
	}
	return sharedAnswer(ctx, a, "approvals\n"+string(client.LanguageOf(ctx))+"\n"+processID, p.Approvals)
}

type decideBody struct {
	_         struct{}   `additionalProperties:"false"`
	Decisions []Decision `json:"decisions" nullable:"false" minItems:"1" maxItems:"1000"`
}

// Decision is somebody's decision on a waiting Call.
type Decision struct {
	_         struct{} `additionalProperties:"false"`
	ProcessID string   `json:"process" minLength:"1" doc:"its id"`
	client.Decision
	// A decision has its value in the field of its kind.
	Params      Object          `json:"params,omitzero" doc:"of amend: the parameters that change"`
	Replacement Object          `json:"with,omitzero" doc:"of replace: the Call that takes the place, as the LLM writes it"`
	Output      json.RawMessage `json:"output,omitempty" doc:"of answer: the result"`
}

// CheckRightToAct returns an error if a person's rights do not allow an act on a waiting Call. Whoever may look may
// comment, since that is how people answer what they were asked; every other act takes the right to decide.
func CheckRightToAct(person *access.Person, kind string) error {
	if person.May(access.Decide) || kind == client.Comment && person.May(access.Look) {
		return nil
	}
	return access.Forbidden(person, access.Decide)
}

// DecisionResult is the outcome of a decision.
type DecisionResult struct {
	Process string `json:"process"`
	Call    string `json:"call"`
	Outcome string `json:"outcome" enum:"taken,refused,invalid,failed" doc:"invalid: it was not sent; failed: its outcome is unknown"`
	Code    string `json:"code,omitempty" doc:"of what was not taken, as in problems"`
	Reason  string `json:"reason,omitempty" doc:"why it was not taken"`
	// Votes is how many have decided the same.
	Votes *client.VoteCount `json:"count,omitempty" doc:"how many have decided the same, of how many must: with 1 of 2 the Call still waits"`
}

// DecisionResults are in the order of the decisions.
type DecisionResults struct {
	Results []DecisionResult `json:"results" nullable:"false"`
}

// Decide sends the caller's decisions, each of which has its own result. The results are in the order of decisions.
func (a *API) Decide(ctx context.Context, decisions []Decision) []DecisionResult {
	ctx, cancel := context.WithTimeout(ctx, a.ActionTimeout)
	defer cancel()
	return a.decideAll(ctx, access.PersonFrom(ctx), decisions)
}

// DecisionClaims returns the claims for the proof of a decision that the caller signs with a key of their own. The
// error is like that of a decision.
func (a *API) DecisionClaims(ctx context.Context, d Decision) (proof.Claims, error) {
	decision, err := d.toClientDecision(access.PersonFrom(ctx))
	if err != nil {
		return proof.Claims{}, err
	}
	p, err := a.Client.Attach(ctx, d.ProcessID)
	if err != nil {
		return proof.Claims{}, err
	}
	return p.Claims(decision), nil
}

// toClientDecision returns the decision of a request. The error says why the decision is invalid, or why this person
// may not take it.
func (d *Decision) toClientDecision(person *access.Person) (out client.Decision, err error) {
	out = d.Decision
	if out.By, out.Groups, out.Key, err = resolveDecider(person, d.By, d.Groups, d.Proof); err != nil {
		return out, err
	}
	switch {
	case len(d.ValueJSON()) > 0:
		out.Value, _ = jsonval.Decode(d.ValueJSON()) // the body has been decoded as strictly already
	case d.Kind == client.Answer:
		return out, invalidAt("output", errAnswerWithoutOutput)
	}
	return out, out.Validate()
}

// ValueJSON returns the decision's Value as JSON, or nil if its kind has no value.
func (d *Decision) ValueJSON() []byte {
	return map[string]json.RawMessage{client.Amend: d.Params.RawMessage, client.Replace: d.Replacement.RawMessage,
		client.Answer: d.Output}[d.Kind]
}
