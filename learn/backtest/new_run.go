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

// newRunStartTime is when every new run begins, since no clock is read.
var newRunStartTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// newIdeaRun runs the new Idea on the instances of one chain: with the loop of a process, its instances, and a Planner
// in the LLM's place.
type newIdeaRun struct {
	idea             *ideafile.Idea
	bindings         ideafile.ToolBindings
	palette          ideafile.Palette
	chain            *chain
	planner          Planner
	pastPlanner      *pastPlanner // the Planner, if none was given
	loop             *loop.Loop
	playerByToken    map[string]*instancePlayer
	reportedCallByID map[string]dataflow.LastReportedCall
	lastReportNumber int
	simulatedTime    time.Time
}

// runNewIdea runs a new Idea on a chain's instances. It returns the trace of each instance, by token, and the loop with
// the output.
func runNewIdea(idea *ideafile.Idea, bindings ideafile.ToolBindings, planner Planner,
	c *chain) (map[string]*runTrace, *loop.Loop, error) {
	r := &newIdeaRun{idea: idea, bindings: bindings, chain: c, planner: planner,
		playerByToken:    map[string]*instancePlayer{},
		reportedCallByID: map[string]dataflow.LastReportedCall{}, simulatedTime: newRunStartTime}
	if planner == nil {
		r.pastPlanner = &pastPlanner{chain: c, answeredRequestsByToken: map[string]int{},
			lacksRecordedReply: map[string]bool{}}
		r.planner = r.pastPlanner
	}
	r.palette = ideafile.Palette{Tools: withoutDeciders(idea.Tools, idea.Config.ApprovalOversight),
		BindingByTool:      bindings,
		AdaptValuesWithLLM: idea.Config.AdaptValuesWithLLM}
	r.loop = loop.New(idea, c.ProcessID, bindings, newRunStartTime)
	for _, i := range c.instances {
		flow := dataflow.New(r.palette, idea.Context, i.token)
		flow.SetTime(newRunStartTime)
		r.playerByToken[i.token] = newInstancePlayer(flow, newPastOutcomes(i.trace, flow.HasDirectPlan() &&
			i.isLLMPlanned()))
		if flow.HasDirectPlan() {
			flow.StartDirectPlan()
			r.playerByToken[i.token].playAll()
			r.reportProgress(i.token, 0)
		}
	}
	if err := r.runToEnd(); err != nil {
		return nil, nil, err
	}
	return r.readTraces(), r.loop, nil
}

// maxLoopSteps bounds the steps of the loop, which a Planner could make endless.
const maxLoopSteps = 10_000

// runToEnd runs the process until it is finished, or waits for something unknown.
func (r *newIdeaRun) runToEnd() error {
	for range maxLoopSteps {
		step, request := r.loop.Advance(r.simulatedTime)
		switch step {
		case loop.StepFinished:
			return nil
		case loop.StepPaused:
			for _, i := range r.loop.Instances {
				if i.Status == ideafile.InstanceWorking {
					r.noteUnknownReason(i.Token, "the process would pause: "+r.loop.PauseReason.Message)
				}
			}
			return nil
		case loop.StepWait:
			wakeTime := r.loop.NextWakeTime()
			if wakeTime.IsZero() || !wakeTime.After(r.simulatedTime) {
				return nil
			}
			r.simulatedTime = wakeTime
		case loop.StepRequest:
			if err := r.runRequest(request); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("model: backtest %s: it does not come to an end", r.chain.ProcessID)
}

func (r *newIdeaRun) noteUnknownReason(token, reason string) {
	p := r.playerByToken[token]
	p.otherUnknownReasons = jsonval.AppendNew(p.otherUnknownReasons, reason)
}

// runRequest lets the Planner answer a Request, delivers the Calls to their instances, and plays the instances.
func (r *newIdeaRun) runRequest(request *turn.RequestInput) error {
	if r.pastPlanner != nil {
		r.noteLLMFallbacks(request)
	}
	reply, err := r.planner.Reply(r.idea, r.bindings, request)
	switch {
	case errors.Is(err, ErrNoReply):
		for _, token := range request.InstanceTokens() {
			r.noteUnknownReason(token, r.describeUnansweredRequest(request, err))
		}
	case err != nil:
		return fmt.Errorf("model: backtest %s: Request %d: %w", r.chain.ProcessID, request.RequestNumber, err)
	}
	llmReply := turn.LLMReply{IsComplete: true, Output: reply.Output,
		OutputFault:      turn.CheckOutput(r.idea, reply.Output),
		HTTPAttemptCount: 1,
		Calls:            ideafile.ParseWrittenCalls(reply.Calls)}
	tokensWithCalls := r.deliverCalls(request, &llmReply)
	for _, token := range slices.Concat(request.InstanceTokens(), request.ReopenableTokens) {
		isCovered := slices.Contains(request.InstanceTokens(), token)
		if isCovered && !tokensWithCalls[token] && len(request.Questions) == 0 {
			llmReply.InstanceTokensWithoutCalls = append(llmReply.InstanceTokensWithoutCalls, token)
		}
		if !request.IsOutputOnly && (isCovered || tokensWithCalls[token]) {
			r.playerByToken[token].flow.CloseRequest(request.RequestNumber)
			r.playerByToken[token].playAll()
			r.reportProgress(token, request.RequestNumber)
		}
	}
	r.loop.ApplyReply(llmReply)
	if r.loop.ConcludeRequest() == nil {
		return fmt.Errorf("model: backtest %s: Request %d does not conclude", r.chain.ProcessID, request.RequestNumber)
	}
	r.loop.TakeEndedInstances()
	return nil
}

// describeUnansweredRequest describes an unanswered Request.
func (r *newIdeaRun) describeUnansweredRequest(input *turn.RequestInput, err error) string {
	if len(input.Questions) > 0 {
		return "the LLM would be asked " + input.QuestionSummary() + ", and was not"
	}
	return fmt.Sprintf("the LLM would be asked (Request %d): %s", input.RequestNumber, err)
}

// noteLLMFallbacks notes the instances for which the LLM planned then, and which a Plan does not bring to their end
// now. The LLM would be asked, and its past answers were about something else.
func (r *newIdeaRun) noteLLMFallbacks(request *turn.RequestInput) {
	for _, i := range r.chain.instances {
		if slices.Contains(request.InstanceTokens(), i.token) && r.playerByToken[i.token].flow.HasDirectPlan() &&
			i.isLLMPlanned() && !request.IsOutputOnly {
			reason := "its Plan does not bring it to an end"
			if f := r.playerByToken[i.token].flow.DirectPlanFault(); f != nil {
				reason = f.Message
			}
			r.noteUnknownReason(i.token, "the LLM would be asked: "+reason)
			r.pastPlanner.lacksRecordedReply[i.token] = true
		}
	}
}

// deliverCalls delivers the Calls of a reply to their instances, and returns the instances that got one.
func (r *newIdeaRun) deliverCalls(request *turn.RequestInput, llmReply *turn.LLMReply) map[string]bool {
	palette := r.palette
	palette.InstanceTokens, palette.ReopenableTokens = request.InstanceTokens(), request.ReopenableTokens
	tokensWithCalls := map[string]bool{}
	for n, call := range llmReply.Calls {
		if len(request.Questions) > 0 {
			r.deliverAnswer(request, n+1, call, llmReply)
			continue
		}
		tokens, f := palette.TargetInstances(call)
		if f != nil {
			llmReply.CallFaults = append(llmReply.CallFaults, turn.CallFault{Index: n + 1, Fault: *f})
		}
		for _, token := range tokens {
			tokensWithCalls[token] = true
			r.playerByToken[token].flow.AcceptCall(request.RequestNumber, n+1, call)
		}
	}
	return tokensWithCalls
}

func (r *newIdeaRun) deliverAnswer(request *turn.RequestInput, callIndex int, call ideafile.WrittenCall,
	llmReply *turn.LLMReply) {
	q, output, params, f := turn.ReadLLMAnswer(r.idea, request, call)
	switch {
	case f != nil:
		llmReply.CallFaults = append(llmReply.CallFaults, turn.CallFault{Index: callIndex, Fault: *f})
	case q.ParamsError != "":
		r.playerByToken[q.InstanceToken].flow.ApplyAdaptedParams(q.CallID, params)
	default:
		r.playerByToken[q.InstanceToken].endWithLLMResult(q.CallID, output)
	}
}

// reportProgress reports an instance to the loop. An instance that waits for something unknown is never reported as
// idle, so that nobody plans on for it.
func (r *newIdeaRun) reportProgress(token string, requestNumber int) {
	p := r.playerByToken[token]
	r.lastReportNumber++
	report := turn.InstanceReport{
		InstanceToken: token, ReportNumber: r.lastReportNumber, WorkflowHistoryLength: r.lastReportNumber,
		ClosedThroughRequest:  requestNumber,
		Writes:                p.flow.TakeUnreportedWrites(),
		InstanceStatusDetails: p.flow.StatusDetails(),
	}
	report.IsIdle, report.PendingApprovals = report.IsIdle && !p.hasUnknownOutcome(), nil
	if r.pastPlanner != nil && len(report.Questions) > 0 {
		report.IsIdle, report.Questions = false, nil // there is no LLM to ask
	}
	report.Calls = p.flow.ReportChangedCalls(r.reportedCallByID, func(*dataflow.CallRecord) bool { return true })
	r.loop.ApplyReport(report)
}

// readTraces reads how the run of every instance went.
func (r *newIdeaRun) readTraces() map[string]*runTrace {
	traceByToken := map[string]*runTrace{}
	for _, i := range r.loop.Instances {
		p := r.playerByToken[i.Token]
		t := p.readTrace()
		t.status, t.fault, t.stepOutcomes, t.isDirectPlan = i.Status, i.Fault, i.StepOutcomes, p.flow.HasDirectPlan()
		questions := p.flow.QuestionsToLLM()
		for _, q := range questions {
			t.markUnanswered(p.flow, q)
		}
		if p.hasUnknownOutcome() || len(questions) > 0 {
			t.status, t.fault = "", nil
		}
		traceByToken[i.Token] = t
	}
	return traceByToken
}

// markUnanswered marks a Call about which the LLM would be asked and has no recorded answer.
func (t *runTrace) markUnanswered(flow *dataflow.Instance, q turn.QuestionToLLM) {
	c := t.calls[slices.IndexFunc(t.calls, func(c *tracedCall) bool { return c.id == q.CallID })]
	c.params, _ = flow.ResolvedParams(flow.FindCall(q.CallID))
	if c.isResultUnknown = q.ParamsError == ""; !c.isResultUnknown {
		c.fault, c.notRunReason = diag.Faultf(ideafile.CodeBadParams, "%s", q.ParamsError), q.ParamsError
	}
}
