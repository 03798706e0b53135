package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"

	"processidea/client"
	"processidea/gateway/access"
	"processidea/model/approval"
)

func (a *API) addPlanOperations() {
	const tag = "people"
	addGet(a, tag, "list-plans", "/api/plans", "List the Plans that wait for a person, in all processes",
		"Lists the Plans that wait as a whole: nothing of them has begun. The list of one process tells more: "+
			"what each Call reads, what earlier processes took, and which Calls will ask a person again.", a.listPlans)
	addGet(a, tag, "list-process-plans", "/api/processes/{id}/plans", "List the Plans that wait in a process",
		"Lists the Plans that wait as a whole in a process: one at most, and one in each part of a process that is "+
			"split; and those of its delegates. A decision goes to the process that a Plan names.",
		func(ctx context.Context, in *ProcessTarget) (PlanList, error) {
			return sharedAnswer(ctx, a, "plans below\n"+in.ID, func(ctx context.Context) (list PlanList, err error) {
				list.Plans, err = a.Client.WaitingPlansOf(ctx, in.ID)
				list.UnansweredProcessIDs, err = client.UnansweredProcessIDs(err)
				return list, err
			})
		})
	decideOperation := newPostOperation(tag, "decide-plan", "/api/processes/{id}/plans/decision",
		"Decide on a Plan that waits",
		"Approves, amends or rejects a Plan as it was shown: the digest names it. If another Plan waits by now, "+
			"nothing is decided, and the problem `changed` holds that Plan. Who decides is whoever the token names; "+
			"where the "+
			"gateway has a key, it signs the decision for that person.")
	decideOperation.Errors = []int{http.StatusConflict}
	addOperation(a, access.Decide, decideOperation, asHandler(func(ctx context.Context, in *struct {
		ProcessTarget
		Body planDecision
	}) (client.PlanDecisionOutcome, error) {
		return a.DecidePlan(ctx, in.ID, in.Body.PlanDecision)
	}))
}

// WaitingPlan is a Plan that waits as a whole, in a list over all processes.
type WaitingPlan struct {
	client.PendingPlan
	CallsByTool []approval.PlanToolCount `json:"callsByTool" nullable:"false" doc:"what would run, once for each instance"`
}

// WaitingPlanList is the Plans that wait, in all processes.
type WaitingPlanList struct {
	Plans                []WaitingPlan `json:"plans" nullable:"false"`
	UnansweredProcessIDs []string      `json:"unanswered,omitempty" nullable:"false" doc:"processes that did not answer: what waits in them is missing"`
}

// PlanList is the Plans that wait in a process.
type PlanList struct {
	Plans                []client.DescribedPlan `json:"plans" nullable:"false"`
	UnansweredProcessIDs []string               `json:"unanswered,omitempty" nullable:"false" doc:"processes that did not answer: what waits in them is missing"`
}

func (a *API) listPlans(ctx context.Context, _ *struct{}) (WaitingPlanList, error) {
	all, err := a.AllWaitingForPeople(ctx)
	list := []WaitingPlan{}
	for _, p := range all.Plans {
		list = append(list, WaitingPlan{p, p.CountByTool()})
	}
	return WaitingPlanList{list, all.UnansweredProcessIDs}, err
}

// WaitingPlansIn lists the Plans that wait in a process. The result is shared: do not change it. The error wraps
// client.ErrNotFound if the id is unknown.
func (a *API) WaitingPlansIn(ctx context.Context, processID string) ([]client.DescribedPlan, error) {
	return sharedAnswer(ctx, a, "plans\n"+string(client.LanguageOf(ctx))+"\n"+processID,
		a.Client.Process(processID).WaitingPlans)
}

type planDecision struct {
	_ struct{} `additionalProperties:"false"`
	client.PlanDecision
}

// DecidePlan sends the caller's decision on a Plan. If it was refused because another Plan waits by now, the error is a
// *Problem with that Plan.
func (a *API) DecidePlan(ctx context.Context, processID string,
	d client.PlanDecision) (out client.PlanDecisionOutcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.ActionTimeout)
	defer cancel()
	p, err := a.Client.Attach(ctx, processID)
	if err != nil {
		return out, err
	}
	if d, err = resolvePlanDecision(d, access.PersonFrom(ctx)); err != nil {
		return out, err
	}
	out, err = p.DecidePlan(ctx, d)
	a.NoteChange(processID)
	a.NoteChange(out.ProcessID)
	if errors.Is(err, client.ErrRefused) {
		err = a.explainPlanRefusal(ctx, p, d, err)
	}
	return out, err
}

// planChangedProblem reports that the decided Plan waits no longer, and shows the waiting Plans to callers who may
// look.
func planChangedProblem(ctx context.Context, waitingPlans []client.DescribedPlan) *Problem {
	p := newProblem(http.StatusConflict, CodePlanChanged,
		"no Plan with this digest waits: somebody has decided on it, or it has changed; plans lists the Plans "+
			"that wait now")
	if len(waitingPlans) == 0 {
		p.Detail = "no Plan waits: somebody has decided on it"
	}
	if access.PersonFrom(ctx).May(access.Look) {
		p.Plans = waitingPlans
	}
	return p
}

// explainPlanRefusal distinguishes a Plan that has changed meanwhile from a decision that cannot be taken.
func (a *API) explainPlanRefusal(ctx context.Context, p *client.Process, d client.PlanDecision,
	refusalErr error) error {
	waitingPlans, err := p.WaitingPlans(ctx)
	if err != nil {
		return refusalErr
	}
	for _, plan := range waitingPlans {
		if plan.Digest == d.PlanDigest {
			problem := ProblemOf(refusalErr)
			problem.Problems = refusedCallPlaces(refusalErr)
			return problem
		}
	}
	return planChangedProblem(ctx, waitingPlans)
}

// callPathPattern matches how a refusal names a Call of an amendment that cannot run: calls[2], or calls[2], in
// instance ①.
var callPathPattern = regexp.MustCompile(`(?:^|; )(calls\[[0-9]+\])(?:, in instance [^:]*)?: `)

// refusedCallPlaces returns the places in the request that a refusal names, each with its message.
func refusedCallPlaces(err error) (list []Place) {
	var refused *client.RefusedError
	if !errors.As(err, &refused) {
		return nil
	}
	matches := callPathPattern.FindAllStringSubmatchIndex(refused.Reason, -1)
	for n, hit := range matches {
		end := len(refused.Reason)
		if n+1 < len(matches) {
			end = matches[n+1][0]
		}
		list = append(list, Place{Path: "body." + refused.Reason[hit[2]:hit[3]], Message: refused.Reason[hit[1]:end]})
	}
	return list
}

// resolvePlanDecision returns a decision with the caller as its decider. The error says why the decision is invalid, or
// why the caller may not take it.
func resolvePlanDecision(d client.PlanDecision, person *access.Person) (_ client.PlanDecision, err error) {
	if d.By, d.Groups, d.Key, err = resolveDecider(person, d.By, d.Groups, d.Proof); err != nil {
		return d, err
	}
	if d.Kind != client.Amend && d.Calls != nil {
		return d, invalidAt("body.calls", errors.New("only an amendment may have calls"))
	}
	if err := d.Validate(); err != nil {
		requestPath := map[string]string{client.Amend: "body.calls", client.Reject: "body.reason"}[d.Kind]
		return d, invalidAt(cmp.Or(requestPath, "body"), err)
	}
	return d, nil
}

// resolveDecider returns the name, groups and signer of the person who decides. That is the caller, or the person that
// the request names if the caller may name others.
func resolveDecider(caller *access.Person, name string, groups []string,
	proof string) (string, []string, client.Signer, error) {
	isNotCallersGroup := func(group string) bool { return !slices.Contains(caller.Groups, group) }
	switch {
	case !caller.MayDecideAsOthers && (name != "" && name != caller.Name ||
		slices.ContainsFunc(groups, isNotCallersGroup)):
		return "", nil, nil, access.NewRefusal(http.StatusForbidden, access.CodeForbidden,
			"the token belongs to %s: decide only as that person, with their groups", caller.Name)
	case proof != "":
		return name, groups, nil, nil // the proof names who decides
	}
	if groups == nil {
		groups = caller.Groups
	}
	if name != "" && name != caller.Name {
		return name, groups, nil, nil // the key signs for the caller only
	}
	return caller.Name, groups, caller.Signer, nil
}

// LivePlan returns the Calls of the latest Plan of a running process, as they are now. The result is shared: do not
// change it.
func (a *API) LivePlan(ctx context.Context, processID string) (*client.DrawablePlan, error) {
	return sharedAnswer(ctx, a, "live plan\n"+processID, a.Client.Process(processID).LivePlan)
}
