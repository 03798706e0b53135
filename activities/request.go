package activities

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/activity"

	"processidea/llm"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/prompt"
	"processidea/model/quality"
	"processidea/model/turn"
	"processidea/protocol"
)

// SendRequest makes one Request: it streams the LLM's solution and sends each Call to its instance at the byte that
// closes it. An error means that the LLM gave no reply and the Request may be sent again; once a reply has begun, the
// result has its outcome, good or bad. batchAnswer is the answer of a batch, if there is one; the LLM is not asked
// then.
func (a *Activities) SendRequest(ctx context.Context, setup protocol.RequestSetup, input *turn.RequestInput,
	states protocol.RequestStates, batchAnswer protocol.LLMBatchAnswer) (reply *turn.LLMReply, err error) {
	err = a.runRequestAttempt(ctx, setup, input, states, func(ctx context.Context) (err error) {
		if batchAnswer.Completion == "" {
			err = a.awaitDailyBudget(ctx)
		}
		if err == nil {
			reply, err = a.sendRequestOnce(ctx, setup, input, states, batchAnswer)
		}
		tookTooLong := errors.Is(context.Cause(ctx), errReplyTookTooLong)
		if tookTooLong && (err == nil && !reply.IsComplete || errors.Is(err, context.DeadlineExceeded)) {
			reply, err = interruptedReply(reply, diag.Faultf(turn.CodeEndlessReply, "%s", errReplyTookTooLong)), nil
		}
		return err
	})
	return reply, err
}

func (a *Activities) sendRequestOnce(ctx context.Context, setup protocol.RequestSetup, input *turn.RequestInput,
	states protocol.RequestStates, batchAnswer protocol.LLMBatchAnswer) (*turn.LLMReply, error) {
	startState := instanceStartStateOf(input, states)
	reply, err := a.sendInSlot(ctx, input, func(attempt *RequestAttempt) (*turn.LLMReply, error) {
		return a.streamRequest(ctx, setup, input, startState, batchAnswer, attempt)
	})
	if err != nil {
		return nil, err
	}
	if err := a.checkStorable(ctx, reply); err != nil {
		return interruptedReply(reply, diag.Faultf(turn.CodeTruncated, "the reply could not be kept: %s",
			jsonval.Clip(err.Error(), maxErrorChars))), nil
	}
	return reply, nil
}

// interruptedReply returns what is kept of a reply that ended with a fault, for instance because its Calls were not
// delivered. The Calls that instances accepted are the solution. reply may be nil.
func interruptedReply(reply *turn.LLMReply, f *diag.Fault) *turn.LLMReply {
	if reply == nil {
		reply = &turn.LLMReply{}
	}
	return &turn.LLMReply{Fault: f, HasUndeliveredCalls: true, Usage: reply.Usage, AnsweringLLM: reply.AnsweringLLM,
		HTTPAttemptCount: reply.HTTPAttemptCount, GoneInstanceTokens: reply.GoneInstanceTokens}
}

// instanceStartStateOf returns what is known about the start of a Request's instances. Only before a process's first
// Idea can a Request be made while they start; all that start together are then pending children of the process.
func instanceStartStateOf(input *turn.RequestInput, states protocol.RequestStates) instanceStartState {
	switch {
	case states.BaseIdea.IdeaNumber > 0:
		return startStateAllStarted
	case len(input.Instances) <= protocol.MaxPendingChildStarts:
		return startStatePendingChildren
	}
	return startStateUnknown
}

// estimateRequestBytes is about how many bytes of JSON a Request is made of.
func estimateRequestBytes(setup protocol.RequestSetup, states protocol.RequestStates) int {
	const sizeLimit = 1 << 30
	return jsonval.SizeUpToLimit(setup.Idea, sizeLimit) + jsonval.SizeUpToLimit(states.DeltaByToken, sizeLimit)
}

func (a *Activities) streamRequest(ctx context.Context, setup protocol.RequestSetup, input *turn.RequestInput,
	startState instanceStartState,
	batchAnswer protocol.LLMBatchAnswer, attempt *RequestAttempt) (*turn.LLMReply, error) {
	r, err := a.newRequest(ctx, setup, input)
	if err != nil {
		return nil, err
	}
	defer r.stopScriptedLLM()
	r.callSender.startState, r.llmRequest.BatchCompletion = startState, []byte(batchAnswer.Completion)
	if a.PromptRecorder != nil {
		a.PromptRecorder(input.ProcessID, input.RequestNumber, r.llmRequest.Messages)
	}
	answer, err := r.askLLMs(ctx, attempt)
	a.setAndChargeReplyCost(answer, r.idea.Config, batchAnswer.Completion != "")
	attempt.Usage = answer.Usage
	if err != nil {
		return nil, err
	}
	r.reply.AnsweringLLM = &turn.LLMUsage{
		RequestNumber: input.RequestNumber, RequestedModel: answer.RequestedModel, ServedModel: answer.ServedModel,
		PromptDigest: promptDigest(r.llmRequest), TokenUsage: answer.Usage,
	}
	if answer.OmittedFeatures != "" {
		activity.GetLogger(ctx).Info("the LLM's server takes less than it was asked", "server", answer.OmittedFeatures)
	}
	r.finishReply(answer)
	if input.Recheck != nil {
		r.compareRecheckAnswers()
	}
	if a.ReplyRecorder != nil {
		a.ReplyRecorder(input.ProcessID, input.TurnNumber, answer.Text, answer.FinishReason, answer.Refusal)
	}
	r.reply.GoneInstanceTokens, err = r.callSender.waitUntilDelivered()
	if err != nil {
		// An error would make Temporal ask again, although some Calls have arrived. So the process closes the Request.
		r.markIncomplete(turn.CodeTruncated,
			"calls could not be handed on: "+jsonval.Clip(err.Error(), maxErrorChars))
		r.reply.HasUndeliveredCalls = true
	}
	return &r.reply, nil
}

// request is one Request under way.
type request struct {
	activities      *Activities
	ctx             context.Context
	idea            *ideafile.Idea
	input           *turn.RequestInput
	palette         ideafile.Palette
	stopScriptedLLM func() // ends the scripted LLM, where there is one
	llmRequest      llm.Request
	// llmCandidates are the LLMs that are asked, in this order.
	llmCandidates []llmCandidate
	callSender    *callSender
	// withholdsAllCalls: the instances get no Calls of the reply. The process sends the Calls once a person has decided
	// on them, or the Request is a recheck, whose Calls are only compared.
	withholdsAllCalls  bool
	instancesWithCalls map[string]bool // instances that got a Call
	reply              turn.LLMReply
}

func (a *Activities) newRequest(ctx context.Context, setup protocol.RequestSetup,
	input *turn.RequestInput) (*request, error) {
	idea, err := a.readIdeaWithTools(ctx, setup.Idea)
	if err != nil {
		return nil, err
	}
	r := &request{activities: a, ctx: ctx, idea: idea, input: input, instancesWithCalls: map[string]bool{},
		stopScriptedLLM: func() {}}
	r.reply.HTTPAttemptCount = int(activity.GetInfo(ctx).Attempt)
	r.palette = ideafile.Palette{Tools: idea.Tools, BindingByTool: setup.Bindings,
		InstanceTokens:   input.InstanceTokens(),
		ReopenableTokens: input.ReopenableTokens}
	if input.IsOutputOnly {
		r.palette.InstanceTokens = nil
	}
	r.withholdsAllCalls = (setup.WithholdsCalls || input.Recheck != nil) && len(input.Questions) == 0
	r.callSender = newCallSender(ctx, a.Client, input.ProcessID, input.RequestNumber, setup.Idea)
	format := prompt.ResponseFormatFor(idea, setup.Bindings, input)
	if format.NotStrictReason != "" {
		activity.GetLogger(ctx).Info("the schema is sent without strict mode", "reason", format.NotStrictReason)
	}
	r.llmRequest = llm.Request{
		Messages: prompt.Render(idea, setup.Bindings, input,
			func(h jsonval.BlobHandle) []byte { return a.Store.GetOrNil(ctx, h) }),
		ResponseFormat: format, RateLimitKey: fmt.Sprintf("%s/%d", input.ProcessID, input.RequestNumber),
		GiveUpAt: activity.GetInfo(ctx).ScheduledTime.Add(cmp.Or(idea.Config.LLMs.MaxRetryDuration(), a.LLMPatience,
			DefaultLLMPatience)),
		KeepText: a.ReplyRecorder != nil, OnCall: r.handleCall,
		OnFirstEvent: func() { a.reportRequestResumed(ctx, input.RequestNumber) },
	}
	if input.Recheck != nil {
		r.llmRequest.RateLimitKey += "/again"
		r.llmRequest.OnFirstEvent = nil // it was never reported as waiting
	}
	if err := r.chooseLLMs(setup); err != nil {
		return nil, nonRetryableError(turn.CodeLLMError, err)
	}
	return r, nil
}

// promptDigest is the digest of the prompt, for turn.LLMUsage.
func promptDigest(q llm.Request) string {
	messages := make([]any, len(q.Messages))
	for n, m := range q.Messages {
		messages[n] = jsonval.Object{"role": m.Role, "content": m.Content}
	}
	sum := sha256.New()
	jsonval.EncodeToPooledBuffer(jsonval.Object{"messages": messages, "schema": q.ResponseFormat.Schema},
		func(data []byte) { sum.Write(data) })
	return hex.EncodeToString(sum.Sum(nil))
}

// chooseLLMs decides who answers: replies made up from schemas, a script, or the LLMs of the Idea.
func (r *request) chooseLLMs(setup protocol.RequestSetup) (err error) {
	// If a line of a script demands a retry, the next line follows.
	scriptedReplies, turnNumber := setup.ScriptedReplies, r.input.TurnNumber+r.reply.HTTPAttemptCount-1
	if line, ok := makeFakeReply(r.idea, setup, r.input, r.llmRequest.Messages); ok {
		r.reply.IsSimulated = true
		scriptedReplies, turnNumber = line, 1
	}
	if scriptedReplies == "" {
		llms := r.idea.Config.LLMs
		if r.input.Recheck != nil {
			llms = r.idea.Config.RecheckLLMs()
		}
		r.llmCandidates = r.activities.llmCandidates(llms)
		return nil
	}
	var scripted llmCandidate
	scripted.client, r.llmRequest.ExtraHeaders, r.stopScriptedLLM, err = startScriptedLLM(scriptedReplies, turnNumber)
	r.llmCandidates = []llmCandidate{scripted}
	return err
}

// handleCall takes a Call that has just closed.
func (r *request) handleCall(callIndex int, raw json.RawMessage) {
	// Every broken Call is a fault of its own, and not the end of the reply.
	var call ideafile.WrittenCall
	v, err := jsonval.Decode(raw)
	if err != nil {
		call = ideafile.ParseWrittenCall(malformedCallText(raw))
	} else if _, isObject := v.(jsonval.Object); isObject { // its large parameters
		v, err = r.activities.offloadLargeValues(r.ctx, v, true)
	}
	if err == nil {
		call = ideafile.ParseWrittenCall(v)
	}
	r.reply.Calls = append(r.reply.Calls, call)
	if err != nil {
		r.addCallFault(callIndex, diag.Fault{Code: ideafile.CodeBadForm, Message: err.Error()})
		return
	}
	if len(r.input.Questions) > 0 {
		r.handleLLMAnswer(callIndex, call)
		return
	}
	instanceTokens, f := r.palette.TargetInstances(call)
	if f != nil { // if the Call lists instances, the others still get it
		r.addCallFault(callIndex, *f)
	}
	// A broken Call goes to its instance too, which reports it with its others.
	for _, t := range instanceTokens {
		r.instancesWithCalls[t] = true
		if r.withholdsCalls(t) {
			continue
		}
		r.callSender.addToBatch(t, func(s *protocol.CallsSignal) {
			s.Calls = append(s.Calls, turn.DeliveredCall{Index: callIndex, Call: call})
		})
	}
}

// withholdsCalls reports whether an instance gets no Calls of the reply yet. No Calls wait for a recheck of a made-up
// reply, since there is none.
func (r *request) withholdsCalls(instanceToken string) bool {
	return r.withholdsAllCalls || (slices.Contains(r.input.TokensHeldForRecheck, instanceToken) && !r.reply.IsSimulated)
}

// compareRecheckAnswers replaces a second answer by its comparison with the first for each instance. It runs in the
// activity, which has the whole palette.
func (r *request) compareRecheckAnswers() {
	differedCount := 0
	for _, instance := range r.input.Instances {
		if !r.reply.IsComplete || r.reply.IsSimulated { // what is made up is no second answer
			break
		}
		view := ideafile.InstanceViewOf(r.idea.Context, instance.Token)
		view.PayloadByKind[ideafile.TypeState] = instance.State
		c := turn.AnswerComparison{InstanceToken: instance.Token, RequestNumber: r.input.RequestNumber,
			InstancePositionInPrompt: r.input.Recheck.InstancePositionByToken[instance.Token],
			FirstLLM:                 r.input.Recheck.FirstLLM, SecondLLM: r.reply.AnsweringLLM.RequestedModel,
			FirstCalls:  quality.CallsForInstance(&r.palette, instance.Token, r.input.Recheck.FirstCalls),
			SecondCalls: quality.CallsForInstance(&r.palette, instance.Token, r.reply.Calls)}
		c.HasDiffered = quality.AnswersDiffer(&r.palette, view, instance.Token, c.FirstCalls, c.SecondCalls)
		r.reply.Comparisons = append(r.reply.Comparisons, c)
		if c.HasDiffered {
			differedCount++
		}
	}
	if o, ok := r.activities.Observer.(RecheckObserver); ok {
		o.ObserveRecheck(r.input.Recheck.FirstLLM, r.reply.AnsweringLLM.RequestedModel, len(r.reply.Comparisons),
			differedCount)
	}
	r.reply.Calls, r.reply.CallFaults, r.reply.Output = nil, nil, nil
}

// malformedCallText is the kept text of a Call that is not JSON. The beginning of a long one is enough to see what it
// was.
func malformedCallText(raw []byte) string {
	if len(raw) <= jsonval.LargeValueBytes {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:jsonval.LargeValueBytes]), "") + "…"
}

func (r *request) addCallFault(callIndex int, f diag.Fault) {
	r.reply.CallFaults = append(r.reply.CallFaults, turn.CallFault{Index: callIndex, Fault: f})
}

// handleLLMAnswer takes the result of a latent Call that was asked for by itself, or parameters that were fitted to a
// schema.
func (r *request) handleLLMAnswer(callIndex int, v ideafile.WrittenCall) {
	question, output, params, f := turn.ReadLLMAnswer(r.idea, r.input, v)
	if f != nil {
		r.addCallFault(callIndex, *f)
		return
	}
	r.callSender.addToBatch(question.InstanceToken, func(s *protocol.CallsSignal) {
		s.LLMAnswers = append(s.LLMAnswers, protocol.LLMAnswer{CallID: question.CallID, Output: output, Params: params,
			HasFittedParams: question.ParamsError != ""})
	})
}

// finishReply handles the end of the reply. If the solution is complete, it informs every instance that no more Calls
// come.
func (r *request) finishReply(answer *llm.Reply) {
	r.reply.Usage = answer.Usage
	r.reply.Fault = answer.IncompleteFault
	if r.reply.Fault != nil || !r.storeOutput(answer.Output) {
		return
	}
	r.reply.IsComplete, r.reply.SaysFinished, r.reply.SaysUnfinished = true, answer.SaysFinished, answer.SaysUnfinished
	r.reply.Notes = turn.ShortenNotes(answer.Notes)
	if r.input.IsOutputOnly {
		return
	}
	for _, t := range r.palette.InstanceTokens {
		if !r.instancesWithCalls[t] {
			r.reply.InstanceTokensWithoutCalls = append(r.reply.InstanceTokensWithoutCalls, t)
		}
		if r.withholdsCalls(t) {
			continue
		}
		r.callSender.addToBatch(t, func(s *protocol.CallsSignal) { s.IsLast = true })
	}
	for _, t := range r.palette.ReopenableTokens {
		if r.instancesWithCalls[t] && !r.withholdsAllCalls {
			r.callSender.addToBatch(t, func(s *protocol.CallsSignal) { s.IsLast = true })
		}
	}
}

// markIncomplete notes that the reply is not whole, and why.
func (r *request) markIncomplete(code, message string) {
	r.reply.IsComplete, r.reply.Fault = false, &diag.Fault{Code: code, Message: message}
}

// storeOutput takes the solution's output, and reports whether it can be used at all. If the output does not fit its
// schema, the reply's OutputFault says why.
func (r *request) storeOutput(raw json.RawMessage) bool {
	if len(raw) == 0 {
		return true
	}
	v, err := jsonval.Decode(raw)
	if err != nil {
		r.markIncomplete(turn.CodeNotJSON, "output: "+err.Error())
		return false
	}
	r.reply.OutputFault = turn.CheckOutput(r.idea, v)
	r.reply.Output, err = r.activities.offloadLargeValues(r.ctx, v, false)
	if err != nil {
		r.markIncomplete(turn.CodeTruncated, "the output could not be stored: "+jsonval.Clip(err.Error(),
			maxErrorChars))
		return false
	}
	return true
}
