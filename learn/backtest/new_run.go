package backtest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// startTime is when every new run begins, since no clock is read.
var startTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// newRun runs the new Idea on the instances of one chain: with the loop of a process, its instances, and a Planner in
// the LLM's place.
type newRun struct {
	idea       *ideafile.Idea
	bindings   ideafile.ToolBindings
	palette    ideafile.Palette
	chain      *chain
	planner    Planner
	ownPlanner *pastPlans // the Planner, if none was given
	loop       *loop.Loop
	players    map[string]*player
	reported   map[string]dataflow.ReportedCall
	reports    int
	now        time.Time
}

// runNew runs a new Idea on a chain's instances. It returns the trace of each instance, by token, and the loop with the
// output.
func runNew(idea *ideafile.Idea, bindings ideafile.ToolBindings, planner Planner,
	c *chain) (map[string]*trace, *loop.Loop, error) {
	r := &newRun{idea: idea, bindings: bindings, chain: c, planner: planner, players: map[string]*player{},
		reported: map[string]dataflow.ReportedCall{}, now: startTime}
	if planner == nil {
		r.ownPlanner = &pastPlans{chain: c, next: map[string]int{}, withoutRecordedReply: map[string]bool{}}
		r.planner = r.ownPlanner
	}
	r.palette = ideafile.Palette{Tools: withoutDeciders(idea.Tools, idea.Config.Approval), BindingByTool: bindings,
		AdaptValuesWithLLM: idea.Config.AdaptValuesWithLLM}
	r.loop = loop.New(idea, c.ProcessID, bindings, startTime)
	for _, i := range c.instances {
		flow := dataflow.New(r.palette, idea.Context, i.token)
		flow.SetTime(startTime)
		r.players[i.token] = newPlayer(flow, newPastOutcomes(i.trace, flow.HasDirectPlan() && i.isLLMPlanned()))
		if flow.HasDirectPlan() {
			flow.StartDirectPlan()
			r.players[i.token].playAll()
			r.reportStanding(i.token, 0)
		}
	}
	if err := r.runToEnd(); err != nil {
		return nil, nil, err
	}
	return r.readTraces(), r.loop, nil
}

// maxSteps bounds the steps of the loop, which a Planner could make endless.
const maxSteps = 10_000

// runToEnd runs the process until it is finished, or waits for something unknown.
func (r *newRun) runToEnd() error {
	for range maxSteps {
		step, request := r.loop.Advance(r.now)
		switch step {
		case loop.StepFinished:
			return nil
		case loop.StepPaused:
			for _, i := range r.loop.Instances {
				if i.Status == ideafile.InstanceWorking {
					r.noteStuck(i.Token, "the process would pause: "+r.loop.PauseReason.Message)
				}
			}
			return nil
		case loop.StepWait:
			wake := r.loop.NextWakeTime()
			if wake.IsZero() || !wake.After(r.now) {
				return nil
			}
			r.now = wake
		case loop.StepRequest:
			if err := r.runRequest(request); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("model: backtest %s: it does not come to an end", r.chain.ProcessID)
}

func (r *newRun) noteStuck(token, what string) {
	p := r.players[token]
	p.stuck = jsonval.AppendNew(p.stuck, what)
}

// runRequest lets the Planner answer a Request, delivers the Calls to their instances, and plays the instances.
func (r *newRun) runRequest(request *turn.RequestInput) error {
	if r.ownPlanner != nil {
		r.noteFallbacks(request)
	}
	reply, err := r.planner.Reply(r.idea, r.bindings, request)
	switch {
	case errors.Is(err, ErrNoReply):
		for _, token := range request.InstanceTokens() {
			r.noteStuck(token, r.describeRequest(request, err))
		}
	case err != nil:
		return fmt.Errorf("model: backtest %s: Request %d: %w", r.chain.ProcessID, request.RequestNumber, err)
	}
	answer := turn.LLMReply{Complete: true, Output: reply.Output, OutputFault: turn.CheckOutput(r.idea, reply.Output),
		HTTPAttempts: 1,
		Calls:        ideafile.ParseWrittenCalls(reply.Calls)}
	named := r.deliverCalls(request, &answer)
	for _, token := range slices.Concat(request.InstanceTokens(), request.ReopenableTokens) {
		covered := slices.Contains(request.InstanceTokens(), token)
		if covered && !named[token] && len(request.Questions) == 0 {
			answer.InstancesWithoutCalls = append(answer.InstancesWithoutCalls, token)
		}
		if !request.OutputOnly && (covered || named[token]) {
			r.players[token].flow.CloseRequest(request.RequestNumber)
			r.players[token].playAll()
			r.reportStanding(token, request.RequestNumber)
		}
	}
	r.loop.ApplyReply(answer)
	if r.loop.ConcludeRequest() == nil {
		return fmt.Errorf("model: backtest %s: Request %d does not conclude", r.chain.ProcessID, request.RequestNumber)
	}
	r.loop.TakeEndedInstances()
	return nil
}

// describeRequest describes an unanswered Request.
func (r *newRun) describeRequest(request *turn.RequestInput, err error) string {
	if len(request.Questions) > 0 {
		return "the LLM would be asked " + request.QuestionSummary() + ", and was not"
	}
	return fmt.Sprintf("the LLM would be asked (Request %d): %s", request.RequestNumber, err)
}

// noteFallbacks notes the instances for which the LLM planned then, and which a Plan does not bring to their end now.
// The LLM would be asked, and its past answers were about something else.
func (r *newRun) noteFallbacks(request *turn.RequestInput) {
	for _, i := range r.chain.instances {
		if slices.Contains(request.InstanceTokens(), i.token) && r.players[i.token].flow.HasDirectPlan() &&
			i.isLLMPlanned() && !request.OutputOnly {
			why := "its Plan does not bring it to an end"
			if f := r.players[i.token].flow.DirectPlanFault(); f != nil {
				why = f.Message
			}
			r.noteStuck(i.token, "the LLM would be asked: "+why)
			r.ownPlanner.withoutRecordedReply[i.token] = true
		}
	}
}

// deliverCalls delivers the Calls of a reply to their instances, and returns the instances that got one.
func (r *newRun) deliverCalls(request *turn.RequestInput, answer *turn.LLMReply) map[string]bool {
	palette := r.palette
	palette.InstanceTokens, palette.ReopenableTokens = request.InstanceTokens(), request.ReopenableTokens
	named := map[string]bool{}
	for n, call := range answer.Calls {
		if len(request.Questions) > 0 {
			r.deliverAnswer(request, n+1, call, answer)
			continue
		}
		tokens, f := palette.TargetInstances(call)
		if f != nil {
			answer.CallFaults = append(answer.CallFaults, turn.CallFault{Index: n + 1, Fault: *f})
		}
		for _, token := range tokens {
			named[token] = true
			r.players[token].flow.AcceptCall(request.RequestNumber, n+1, call)
		}
	}
	return named
}

func (r *newRun) deliverAnswer(request *turn.RequestInput, index int, call ideafile.WrittenCall,
	answer *turn.LLMReply) {
	q, output, params, f := turn.ReadLLMAnswer(r.idea, request, call)
	switch {
	case f != nil:
		answer.CallFaults = append(answer.CallFaults, turn.CallFault{Index: index, Fault: *f})
	case q.ParamsError != "":
		r.players[q.Token].flow.ApplyAdaptedParams(q.CallID, params)
	default:
		r.players[q.Token].callOf(q.CallID).result = &outcome{result: output}
		r.players[q.Token].flow.SucceedCall(q.CallID, output)
	}
}

// reportStanding reports an instance to the loop. An instance that waits for something unknown is never reported as
// idle, so that nobody plans on for it.
func (r *newRun) reportStanding(token string, closed int) {
	p := r.players[token]
	r.reports++
	report := turn.InstanceReport{
		Token: token, ReportNumber: r.reports, WorkflowHistoryLength: r.reports, ClosedThroughRequest: closed,
		Writes:           p.flow.TakeNewWrites(),
		InstanceStanding: p.flow.Standing(),
	}
	report.Idle, report.PendingApprovals = report.Idle && !p.isStuck(), nil
	if r.ownPlanner != nil && len(report.Questions) > 0 {
		report.Idle, report.Questions = false, nil // there is no LLM to ask
	}
	report.Calls = p.flow.ReportCalls(r.reported, func(*dataflow.CallRecord) bool { return true })
	r.loop.ApplyReport(report)
}

// readTraces reads how the run of every instance went.
func (r *newRun) readTraces() map[string]*trace {
	out := map[string]*trace{}
	for _, i := range r.loop.Instances {
		p := r.players[i.Token]
		t := p.readTrace()
		t.status, t.fault, t.steps, t.direct = i.Status, i.Fault, i.Steps, p.flow.HasDirectPlan()
		questions := p.flow.LLMQuestions()
		for _, q := range questions {
			t.markUnanswered(p.flow, q)
		}
		if p.isStuck() || len(questions) > 0 {
			t.status, t.fault = "", nil
		}
		out[i.Token] = t
	}
	return out
}

// markUnanswered marks a Call about which the LLM would be asked and has no recorded answer.
func (t *trace) markUnanswered(flow *dataflow.Instance, q turn.LLMQuestion) {
	c := t.calls[slices.IndexFunc(t.calls, func(c *tracedCall) bool { return c.id == q.CallID })]
	c.params, _ = flow.ResolvedParams(flow.FindCall(q.CallID))
	if c.unknown = q.ParamsError == ""; !c.unknown {
		c.fault, c.reason = diag.Faultf(ideafile.CodeBadParams, "%s", q.ParamsError), q.ParamsError
	}
}
