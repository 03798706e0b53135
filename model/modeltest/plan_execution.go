package modeltest

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// PlanExecution is one execution of a drawn Plan in one instance, step by step.
type PlanExecution struct {
	Instance *dataflow.Instance
	Plan     RandomPlan
	token    string
	CallByID map[string]RandomCall
	// InputByCallID are the parameters of each started Call, by its id.
	InputByCallID map[string]string
	// RunningCalls are the Calls that are run by code and have not ended.
	RunningCalls []dataflow.ReadyCall
	// AfterStep is called after each step.
	AfterStep func()
}

// NewPlanExecution starts an execution in the anonymous instance.
func NewPlanExecution(plan RandomPlan) *PlanExecution { return NewPlanExecutionFor(plan, "") }

// NewPlanExecutionFor starts an execution in the instance of a token.
func NewPlanExecutionFor(plan RandomPlan, token string) *PlanExecution {
	p := &PlanExecution{Plan: plan, token: token, CallByID: map[string]RandomCall{}, InputByCallID: map[string]string{},
		AfterStep: func() {}}
	context, err := ideafile.ReadMessages(plan.Context)
	if err != nil {
		panic(err)
	}
	for _, calls := range plan.Requests {
		for _, c := range calls {
			p.CallByID[ideafile.FormatCallID(c.Request, c.Index, token)] = c
		}
	}
	p.Instance = dataflow.New(RandomPlanPalette, context, token)
	return p
}

// startReadyCalls starts the ready Calls, and fails the test if a Call starts for the second time.
func (p *PlanExecution) startReadyCalls(t Fataler) {
	for _, ready := range p.Instance.Advance() {
		id := ready.Record.ID
		if _, isDuplicate := p.InputByCallID[id]; isDuplicate {
			t.Fatalf("%s started twice", id)
		}
		p.InputByCallID[id] = jsonval.EncodeToString(jsonval.Object{"params": ready.Params,
			"scopes": ready.ScopeValues})
		p.RunningCalls = append(p.RunningCalls, ready)
	}
	p.AfterStep()
}

// AcceptCall delivers a Call to the instance.
func (p *PlanExecution) AcceptCall(c RandomCall) {
	source := c.Source
	if p.token != "" {
		source = jsonval.DeepMerge(source, jsonval.Object{"_instance": p.token}).(jsonval.Object)
	}
	p.Instance.AcceptCall(c.Request, c.Index, ideafile.ParseWrittenCall(source))
}

// EndCall ends the running Call at an index of Running, with its drawn result.
func (p *PlanExecution) EndCall(runningCallIndex int) {
	ready := p.RunningCalls[runningCallIndex]
	p.RunningCalls = slices.Delete(slices.Clone(p.RunningCalls), runningCallIndex, runningCallIndex+1)
	p.endWithPlannedResult(ready.Record.ID, ready.Params, ready.ScopeValues, "said no")
}

func (p *PlanExecution) endWithPlannedResult(id string, params, scopeValues jsonval.Object, refusal string) {
	if c := p.CallByID[id]; c.Fails {
		p.Instance.FailCall(id, diag.Faultf(ideafile.CodeToolFailed, "%s %s", c.ID(), refusal))
	} else {
		p.Instance.SucceedCall(id, c.ResultFunc(params, scopeValues))
	}
}

// AnswerLatent answers a latent Call, which asks the LLM for its result, with its drawn result.
func (p *PlanExecution) AnswerLatent(t Fataler, rec *dataflow.CallRecord) {
	params, err := p.Instance.ResolvedParams(rec)
	if err != nil {
		t.Fatalf("%s asks and cannot be resolved: %s", rec.ID, err)
	}
	p.InputByCallID[rec.ID] = jsonval.EncodeToString(params)
	p.endWithPlannedResult(rec.ID, params, nil, "was not answered")
}

// RunAll runs the whole Plan. chooseEvent(n) picks one of n events that could happen next. A Request starts when all
// Calls of the one before it have ended. Several events may happen before the instance advances, as with signals that
// arrive together.
func (p *PlanExecution) RunAll(t Fataler, chooseEvent func(n int) int) {
	for n, calls := range p.Plan.Requests {
		p.runRequest(t, n+1, calls, chooseEvent)
	}
}

func (p *PlanExecution) runRequest(t Fataler, requestNumber int, calls []RandomCall, chooseEvent func(n int) int) {
	acceptedCount, isRequestClosed, skipsStart := 0, false, false
	for {
		latentCalls := p.Instance.CallsAwaitingLLM()
		replyEventCount := 1 // the next Call of the reply, or its end
		if isRequestClosed {
			replyEventCount = 0
		}
		eventCount := replyEventCount + len(p.RunningCalls) + len(latentCalls)
		if eventCount == 0 && !skipsStart {
			return
		}
		if eventCount > 0 {
			switch k := chooseEvent(eventCount); {
			case k < replyEventCount && acceptedCount < len(calls):
				p.AcceptCall(calls[acceptedCount])
				acceptedCount++
			case k < replyEventCount:
				p.Instance.CloseRequest(requestNumber)
				isRequestClosed = true
			case k < replyEventCount+len(p.RunningCalls):
				p.EndCall(k - replyEventCount)
			default:
				p.AnswerLatent(t, latentCalls[k-replyEventCount-len(p.RunningCalls)])
			}
		}
		skipsStart = eventCount > 0 && chooseEvent(4) == 3
		if !skipsStart {
			p.startReadyCalls(t)
		}
	}
}

// DescribeOutcome describes everything that must not depend on the order of events: each Call's outcome, its reason and
// its parameters, and the State.
func (p *PlanExecution) DescribeOutcome() string {
	var b strings.Builder
	for _, rec := range p.Instance.CallRecords() {
		fmt.Fprintf(&b, "%s %s by=%q taken=%d untaken=%q", rec.ID, rec.Status, rec.SkippedBecauseOf,
			rec.TakenBranchNumber,
			rec.UntakenBranchReference)
		if rec.Fault != nil {
			fmt.Fprintf(&b, " fault=%s", rec.Fault)
		}
		fmt.Fprintf(&b, " given=%s result=%s\n", p.InputByCallID[rec.ID], jsonval.Encode(rec.Result))
	}
	fmt.Fprintf(&b, "state %s\n", jsonval.Encode(p.Instance.State()))
	return b.String()
}

// PickFirst chooses the plainest order: all Calls are accepted first, and then end in the order in which they started.
func PickFirst(int) int { return 0 }
