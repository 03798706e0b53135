package dataflow

import (
	"slices"

	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// ReadyCall is a Call that may run, with its References resolved.
type ReadyCall struct {
	Record  *CallRecord          `json:"-"`
	Tool    *ideafile.Tool       `json:"-"`
	Binding ideafile.ToolBinding `json:"-"`
	Params  jsonval.Object       `json:"params"`
	// ScopeValues holds what the Call gets beside its parameters, by scope.
	ScopeValues jsonval.Object `json:"scopes,omitempty"`
}

// Advance moves every Call as far as it can go without outside help and returns, in Plan order, the Calls that must be
// run now. It counts them as running from then on.
func (i *Instance) Advance() []ReadyCall {
	var readyCalls []ReadyCall
	// While Advance runs, Calls end and may write fewer paths, so users of the index check each Call that it lists.
	// Calls that had ended before it was built are not in it.
	i.writerIndex = jsonval.NewPathIndex(i.callRecords, func(rec *CallRecord) []jsonval.Path {
		if rec.Status.IsFinal() {
			return nil
		}
		return rec.possibleWritePaths()
	})
	defer func() { i.writerIndex = nil }()
	for hasProgressed := true; hasProgressed; {
		hasProgressed = false
		for _, rec := range i.callRecords {
			if i.canCallAdvance(rec) {
				hasProgressed = true
				readyCalls = append(readyCalls, i.advanceCall(rec)...)
			}
		}
		if hasProgressed {
			continue
		}
		hasProgressed = i.blockFirstUnsatisfiableCall()
		if hasProgressed {
			continue
		}
		if rec := i.callToBreakDeadlock(); rec != nil && i.ActiveUndo == nil {
			hasProgressed = true
			readyCalls = append(readyCalls, i.advanceCall(rec)...)
		}
	}
	i.withdrawUndoneWrites()
	i.skipReadersOfUntakenBranch()
	i.updateBlockedReasons()
	slices.SortFunc(readyCalls, func(a, b ReadyCall) int { return a.Record.Key().Compare(b.Record.Key()) })
	return readyCalls
}

// advanceCall moves a Call one step. Invariant: canCallAdvance holds, so nothing that the step depends on can change
// any more.
func (i *Instance) advanceCall(rec *CallRecord) []ReadyCall {
	if rec.phase == phaseResultPending {
		i.finishSuccessfulCall(rec, rec.PendingResult)
		return nil
	}
	if rec.hasPendingCondition() {
		i.applyCondition(rec)
		return nil
	}
	if author, isClosed := i.authorClosingOutput(rec); isClosed {
		i.endCallOnClosedPath(rec, author)
		return nil
	}
	if author, areAllWritten := i.authorOfAllResultKeys(rec); areAllWritten {
		rec.skip(author)
		return nil
	}
	if i.failIfAlternativeUndecided(rec) {
		return nil
	}
	if rec.phase == phaseApproved {
		return i.startCall(rec, *rec.readyCall)
	}
	return i.resolveAndStartCall(rec)
}

// resolveAndStartCall resolves the parameters of a Call and starts it, unless the LLM must adapt them or a person must
// review it first.
func (i *Instance) resolveAndStartCall(rec *CallRecord) []ReadyCall {
	tool := ideafile.FindTool(i.palette.Tools, rec.Tool)
	params, err := i.resolveParams(rec)
	if err == nil {
		params = rec.ParamsAdaptation.ApplyTo(params)
		err = addUnquotedTextHint(tool.ValidateParams(params), tool.ParamsSchemaSource(), rec.Params, params,
			i.contextView.PayloadByKind)
		if err != nil {
			isAdaptationRequested := i.requestAdaptation(rec, tool, params, err)
			if isAdaptationRequested {
				return nil
			}
		}
	}
	if err != nil {
		rec.fail(ideafile.CodeBadParams, "%s%s", rec.ParamsAdaptation.FaultPrefix(), err)
		return nil
	}
	ready := ReadyCall{Record: rec, Tool: tool, Binding: i.palette.BindingByTool[rec.Tool], Params: params,
		ScopeValues: i.scopeValues(rec)}
	approvalPolicy, reviewReason := i.reviewPolicy(ready)
	rec.ReviewReason = ""
	if approvalPolicy == nil {
		return i.startCall(rec, ready)
	}
	i.requestReview(rec, ready, approvalPolicy, reviewReason)
	if ready.Binding.Simulation != nil {
		i.autoApproveInSimulation(rec)
	}
	return nil
}

// reviewPolicy returns the policy by which a person must review a Call, and the reason if the review has another
// reason than the policy. It returns nil if no review is needed.
func (i *Instance) reviewPolicy(ready ReadyCall) (approvalPolicy *policy.Approval, reviewReason string) {
	approvalPolicy, reviewReason = i.palette.ApprovalOversight.PolicyFor(ready.Tool.Name, ready.Tool.Approval),
		ready.Record.ReviewReason
	switch {
	case approvalPolicy.RequiresReviewOf(ready.Params):
		return approvalPolicy, reviewReason
	case reviewReason != "":
		return &policy.Approval{AllowedDecisions: []string{policy.Approve, policy.Reject, policy.Answer}}, reviewReason
	}
	return nil, ""
}

// startCall returns the Call for its activity to run. A latent Call has no activity: it takes the result that the LLM
// wrote with it, or asks the LLM for one.
func (i *Instance) startCall(rec *CallRecord, ready ReadyCall) []ReadyCall {
	i.LogicalTime++
	rec.readyCall, rec.StartLogicalTime = &ready, i.LogicalTime
	if len(rec.Decisions) > 0 || i.palette.KeepsUndoableCallParams &&
		ready.Tool.EffectiveUndo(ready.Binding).Kind == ideafile.UndoByTool {
		rec.ExecutedCall = &turn.ExecutedCall{Tool: ready.Tool.Name, Params: ready.Params}
	}
	switch {
	case ready.Binding.Kind != ideafile.KindLatent:
		rec.setPhase(phaseRunning)
		return []ReadyCall{ready}
	case rec.HasLatentOutput:
		result, _ := i.selectResultBranch(rec, rec.LatentOutput) // never an error: a latent Tool names no branch
		i.acceptResult(rec, result)
	default:
		rec.setPhase(phaseAskingLLM)
	}
	return nil
}

// FindStartedCall returns a Call as Advance returned it; the zero ReadyCall where the Call has not started.
func (i *Instance) FindStartedCall(id string) ReadyCall {
	if rec := i.FindCall(id); rec != nil && rec.readyCall != nil {
		return *rec.readyCall
	}
	return ReadyCall{}
}
