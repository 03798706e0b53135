package loop

import (
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// settleInstances decides, after a whole reply, which instances have reached their goal: those that got no Call.
func (l *Loop) settleInstances(req *llmRequest) {
	if l.isWired(req) {
		l.wiredRequest = req
	}
	candidates := l.settleCandidates(req)
	if l.idea.Output != nil && l.isCompletedBy(candidates, req) {
		taken := l.takeReplyOutput(req)
		if !taken {
			return
		}
	}
	for _, inst := range candidates {
		l.settleOrRetry(inst)
	}
}

// isCompletedBy reports whether the process reaches its goal if some instances settle by a Request.
func (l *Loop) isCompletedBy(settling []*InstanceProgress, req *llmRequest) bool {
	for _, inst := range l.instances {
		if inst.Status == ideafile.InstanceWorking && !slices.Contains(settling, inst) {
			return false
		}
	}
	return (len(settling) > 0 || req.input.OutputOnly) && !anyMissingRequired(settling)
}

// settleCandidates returns the instances that the reply gave no Call, except those corrected since the Request was made: the LLM
// did not know of the correction.
func (l *Loop) settleCandidates(req *llmRequest) (list []*InstanceProgress) {
	if len(req.reply.CallFaults) > 0 || req.input.OutputOnly {
		return nil
	}
	for _, token := range req.reply.InstancesWithoutCalls {
		if inst := l.instance(token); inst != nil && inst.Status == ideafile.InstanceWorking && !inst.RevisedSinceRequest {
			list = append(list, inst)
		}
	}
	return list
}

func (l *Loop) coversAllInstances(req *llmRequest) bool {
	return len(req.input.Instances) == len(l.instances)
}

// settleOrRetry settles an instance, unless State lacks what its schema requires: then the next Request is told, three times at
// most, before the instance fails.
func (l *Loop) settleOrRetry(inst *InstanceProgress) {
	switch {
	case len(inst.Missing) == 0:
		l.endInstance(inst, ideafile.InstanceSettled, nil)
	case inst.MissingRetries < maxMissingRetries:
		inst.MissingRetries++
	default:
		l.endInstance(inst, ideafile.InstanceFailed, diag.Faultf(turn.CodeMissingRequired, "its State still lacks %v", inst.Missing))
	}
}

// takeReplyOutput takes the output of the reply that ends the process, and reports whether the instances may settle. The output of a
// Request that did not cover all instances is ignored, as a closing Request follows. A bad output is reported to the next one.
func (l *Loop) takeReplyOutput(req *llmRequest) bool {
	if !l.coversAllInstances(req) {
		return true
	}
	out, f := l.idea.Output.WithoutNulls(req.reply.Output), req.reply.OutputFault
	if f == nil {
		out, f = l.literalOutput(out)
	}
	if f != nil {
		l.refuseOutput(f)
		return false
	}
	l.setOutput(out)
	return true
}

func (l *Loop) refuseOutput(f *diag.Fault) {
	l.addError(turn.ContextError{Fault: *f})
	l.badOutputsInRow++
	if l.badOutputsInRow >= maxBadInRow {
		l.pauseReason = diag.Faultf(turn.CodeBadOutputs, "%d bad outputs in a row; the last one: %s", l.badOutputsInRow, f.Message)
	}
}

// literalOutput resolves the References of an output that came without Calls.
func (l *Loop) literalOutput(out any) (any, *diag.Fault) {
	if out == nil {
		return nil, diag.Faultf(ideafile.CodeBadOutput, "there are no calls and no output; the output form wants one")
	}
	resolved, err := l.resolveOutput(out)
	if err != nil {
		return nil, diag.Faultf(ideafile.CodeBadOutput, "the output: %s", err)
	}
	if err := l.checkOutput(resolved); err != nil {
		return nil, diag.Faultf(ideafile.CodeBadOutput, "the output does not fit its form: %s", err)
	}
	return resolved, nil
}

// checkOutput checks an output against its schema. Values in the blob store were checked before they were stored.
func (l *Loop) checkOutput(out any) error {
	if jsonval.HasHandle(out) {
		return nil
	}
	return l.idea.Output.Validate(out)
}
