package dataflow

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
)

// ReadyCall is a Call that may run, with its References resolved.
type ReadyCall struct {
	Record  *Record
	Tool    *ideafile.Tool
	Binding ideafile.Binding
	Params  map[string]any
	// Scopes holds what the Call gets beside its parameters, by scope.
	Scopes map[string]any
}

// Advance moves every Call as far as it can go without outside help and returns, in Plan order, the Calls that must be run
// now. It counts them as running from then on.
func (i *Instance) Advance() []ReadyCall {
	var start []ReadyCall
	i.writersByKey = newWriterIndex(i.records)
	defer func() { i.writersByKey = nil }()
	for moved := true; moved; {
		moved = false
		for _, rec := range i.records {
			if i.canAdvance(rec) {
				moved = true
				start = append(start, i.advanceCall(rec)...)
			}
		}
		if moved {
			continue
		}
		moved = i.blockUnsatisfiable()
		if moved {
			continue
		}
		if rec := i.firstInWaitCycle(); rec != nil {
			moved = true
			start = append(start, i.advanceCall(rec)...)
		}
	}
	i.skipUntakenBranches()
	i.updateBlockedReasons()
	slices.SortFunc(start, func(a, b ReadyCall) int { return a.Record.key().Compare(b.Record.key()) })
	return start
}

// advanceCall moves a Call one step. Invariant: canAdvance holds, so nothing that the step depends on can change any more.
func (i *Instance) advanceCall(rec *Record) []ReadyCall {
	if rec.phase == resultPending {
		i.finishCall(rec, rec.Value)
		return nil
	}
	if by, closed := i.outputClosedBy(rec); closed {
		i.endWithClosedPath(rec, by)
		return nil
	}
	if rec.phase == approved {
		return i.startCall(rec, *rec.ready)
	}
	return i.prepareCall(rec)
}

// prepareCall resolves the parameters of a Call and starts it, unless the LLM must adapt them or a person must review it first.
func (i *Instance) prepareCall(rec *Record) []ReadyCall {
	tool := ideafile.FindTool(i.palette.Tools, rec.Tool)
	params, err := i.resolveParams(rec)
	if err == nil {
		params = rec.Adapted.ApplyTo(params)
		err = tool.ValidateParams(params)
		if err != nil {
			requested := i.requestAdaptation(rec, tool, params, err)
			if requested {
				return nil
			}
		}
	}
	if err != nil {
		rec.end(ideafile.Failed, diag.Faultf(ideafile.CodeBadParams, "%s%s", rec.Adapted.FaultPrefix(), err))
		return nil
	}
	ready := ReadyCall{Record: rec, Tool: tool, Binding: i.palette.Bindings[rec.Tool], Params: params, Scopes: i.scopeValues(rec)}
	policy, why := i.requiredReview(ready)
	rec.ReviewReason = ""
	if policy == nil {
		return i.startCall(rec, ready)
	}
	i.requestReview(rec, ready, policy, why)
	if ready.Binding.Simulated != nil {
		i.approveSimulated(rec)
	}
	return nil
}

// requiredReview returns the policy by which a person must review a Call, and why where the policy is not the reason; nil if
// nobody must.
func (i *Instance) requiredReview(ready ReadyCall) (policy *ideafile.Approval, why string) {
	policy, why = i.palette.ApprovalOverride.PolicyFor(ready.Tool), ready.Record.ReviewReason
	switch {
	case policy.RequiredFor(ready.Params):
		return policy, why
	case why != "":
		return &ideafile.Approval{Allow: []string{ideafile.Approve, ideafile.Reject, ideafile.Answer}}, why
	}
	return nil, ""
}

// startCall returns the Call for its activity to run. A latent Call, whose result the LLM writes, ends here or asks for it.
func (i *Instance) startCall(rec *Record, ready ReadyCall) []ReadyCall {
	rec.ready = &ready
	switch {
	case ready.Binding.Kind != ideafile.KindLatent:
		rec.moveTo(running)
		return []ReadyCall{ready}
	case rec.HasOutput:
		result, _ := i.recordBranch(rec, rec.Output) // never an error: a latent Tool names no branch
		i.acceptResult(rec, result)
	default:
		rec.moveTo(askingLLM)
	}
	return nil
}

// FindStartedCall returns a Call as Advance returned it; the zero ReadyCall where the Call has not started.
func (i *Instance) FindStartedCall(id string) ReadyCall {
	if rec := i.FindCall(id); rec != nil && rec.ready != nil {
		return *rec.ready
	}
	return ReadyCall{}
}
