package split

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// This file makes one output for a process in parts.

// NextOutputTurnNumber returns the Turn of the Request that asks for the output.
func (p *Process) NextOutputTurnNumber() int {
	maxPartTurnCount := 0
	for _, part := range p.Parts {
		maxPartTurnCount = max(maxPartTurnCount, part.Report.TurnCount)
	}
	return maxPartTurnCount + p.OwnReport.TurnCount + 1
}

// PartOutputsAsInstances returns the parts' outputs in the form of instances, for the Request that makes one output of
// them. For a part without an output it shows the States of the part's instances.
func (p *Process) PartOutputsAsInstances(states jsonval.Object) []turn.InstanceInput {
	var list []turn.InstanceInput
	for _, part := range p.Parts {
		state := jsonval.Object{"output": part.Report.Output}
		if part.Report.Output == nil {
			partStates := jsonval.Object{}
			for _, token := range part.InstanceTokens {
				partStates[token] = states[token]
			}
			state = jsonval.Object{"instances": partStates}
		}
		list = append(list, turn.InstanceInput{Token: fmt.Sprintf("part %d", part.Number), State: state})
	}
	return list
}

// AnyPartWithoutOutput reports whether a part made no output, so that PartOutputsAsInstances shows States.
func (p *Process) AnyPartWithoutOutput() bool {
	return slices.ContainsFunc(p.Parts, func(part Part) bool { return part.Report.Output == nil })
}

// OutputSource returns the source of the output, once all parts have ended; asksLLM means that the LLM must be asked
// for it first. If it returns neither, the process has no output, or has it already.
func (p *Process) OutputSource(idea *ideafile.Idea) (wirings []loop.OutputWiring, asksLLM bool) {
	switch wirings = p.partOutputWirings(idea); {
	case p.OwnReport.Output != nil || p.OwnReport.Error != nil || p.settledInstanceCount() == 0:
		return nil, false
	case p.OwnReport.OutputWirings != nil:
		return p.OwnReport.OutputWirings, false
	case len(wirings) > 0 && !p.AreOutputWiringsRefused:
		return wirings, false
	case idea.OutputSchema == nil:
		return nil, false
	case p.isLLMForbidden():
		p.OwnReport.Error = loop.NoPlanOutputFault()
		return nil, false
	case slices.ContainsFunc(p.Parts, Part.wasCancelledOrTerminated):
		return nil, false
	}
	return nil, true
}

// ApplyOutputReply applies the reply to the Request for the output. OutputSource then returns the output, whose
// References must still be resolved.
func (p *Process) ApplyOutputReply(idea *ideafile.Idea, r turn.LLMReply) {
	p.OwnReport.RequestCount++
	p.OwnReport.Usage.Add(r.Usage)
	if r.AnsweringLLM != nil {
		p.LLMUsages = append(p.LLMUsages, *r.AnsweringLLM)
	}
	if !r.IsSimulated && !r.IsWorkerLost {
		p.OwnReport.TurnCount += max(1, r.HTTPAttemptCount)
	}
	switch {
	case !p.IsFinished(): // instances were added meanwhile
	case r.IsNotRetryable:
		p.PauseReason = r.Fault
	case r.IsWorkerLost:
		p.WorkerLossesInRow++
		if p.WorkerLossesInRow >= loop.MaxWorkerLossesInRow {
			p.PauseReason, p.WorkerLossesInRow = loop.WorkerLossesFault(loop.MaxWorkerLossesInRow), 0
		}
	case !r.IsComplete:
		p.refuseOutput(r.Fault)
	case r.OutputFault != nil:
		p.refuseOutput(r.OutputFault)
	case idea.OutputSchema.WithoutNulls(r.Output) == nil:
		p.refuseOutput(diag.Faultf(ideafile.CodeBadOutput, "there is no output; the output form wants one"))
	default:
		p.OwnReport.OutputWirings = []loop.OutputWiring{{WrittenOutput: idea.OutputSchema.WithoutNulls(r.Output),
			InstanceTokens: p.InstanceTokens()}}
	}
}

// refuseOutput makes the next Request for the output report the error. loop.MaxBadRepliesInRow errors in a row pause
// the process.
func (p *Process) refuseOutput(f *diag.Fault) {
	p.OutputErrors = []turn.ContextError{{Fault: *f}}
	p.BadOutputsInRow++
	p.WorkerLossesInRow = 0
	if p.BadOutputsInRow >= loop.MaxBadRepliesInRow {
		p.PauseReason = diag.Faultf(turn.CodeBadOutputs, "%d bad outputs over all parts in a row; the last one: %s",
			p.BadOutputsInRow, f.Message)
		p.BadOutputsInRow = 0
	}
}

// AcceptOutput takes the output made from OutputSource, and reports whether it is valid. If it is not, the LLM is asked
// for another one with the reason, or the process fails if the LLM may not be asked.
func (p *Process) AcceptOutput(idea *ideafile.Idea, output any, f *diag.Fault) (isValid bool) {
	isFromReply := p.OwnReport.OutputWirings != nil
	switch p.OwnReport.OutputWirings = nil; {
	case f == nil:
		p.OwnReport.Output, p.BadOutputsInRow, p.WorkerLossesInRow, p.OutputErrors = output, 0, 0, nil
	case isFromReply:
		p.refuseOutput(f)
	default:
		p.AreOutputWiringsRefused = true
		switch {
		case idea.OutputSchema != nil && !p.isLLMForbidden():
			p.OutputErrors = []turn.ContextError{{Fault: *f}}
		case !slices.ContainsFunc(p.Parts, func(part Part) bool { return part.Report.HasFallenBackToLLM }):
			p.OwnReport.Error = f
		}
	}
	return f == nil
}

// partOutputWirings returns the Wirings of the parts as if they were one process: the outputs of direct Plans, or the
// output of replies if it is the same in all parts. It returns nil if a part with a settled instance has neither.
func (p *Process) partOutputWirings(idea *ideafile.Idea) []loop.OutputWiring {
	settledParts := jsonval.Filter(p.Parts, func(part Part) bool { return part.settledInstanceCount() > 0 })
	if len(settledParts) == 0 {
		return nil
	}
	wiredOutput := settledParts[0].Report.WrittenReferenceOutput
	if slices.ContainsFunc(settledParts, func(part Part) bool {
		return wiredOutput == nil || len(part.Report.OutputWirings) > 0 ||
			!jsonval.Equal(part.Report.WrittenReferenceOutput, wiredOutput)
	}) {
		return planOutputWirings(idea, settledParts)
	}
	return []loop.OutputWiring{{WrittenOutput: wiredOutput, InstanceTokens: p.InstanceTokens()}}
}

// planOutputWirings returns the outputs of direct Plans in the order of these Plans in the context of the whole.
func planOutputWirings(idea *ideafile.Idea, settledParts []Part) []loop.OutputWiring {
	wiringByPlanPosition := map[int]loop.OutputWiring{}
	for _, part := range settledParts {
		if len(part.Report.OutputWirings) == 0 {
			return nil
		}
		positions := part.messagePositionsInWholeIdea(idea)
		for _, w := range part.Report.OutputWirings {
			if w.DirectPlanPosition > len(positions) {
				return nil
			}
			position := positions[w.DirectPlanPosition-1]
			mergedWiring := wiringByPlanPosition[position]
			wiringByPlanPosition[position] = loop.OutputWiring{WrittenOutput: w.WrittenOutput,
				InstanceTokens: append(mergedWiring.InstanceTokens, w.InstanceTokens...), DirectPlanPosition: position}
		}
	}
	var list []loop.OutputWiring
	for _, w := range jsonval.Sorted(wiringByPlanPosition) {
		list = append(list, w)
	}
	return list
}

// messagePositionsInWholeIdea returns the positions of the part's own Messages in the context of the whole, from 1.
func (part Part) messagePositionsInWholeIdea(idea *ideafile.Idea) (positions []int) {
	for n, msg := range idea.Context {
		if (msg.InstanceToken == "" || slices.Contains(part.InstanceTokens, msg.InstanceToken)) &&
			!turn.IsHistoryMessage(msg) {
			positions = append(positions, n+1)
		}
	}
	return positions
}
