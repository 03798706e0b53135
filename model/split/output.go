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

// NextTurnNumber returns the Turn of the Request that asks for the output.
func (p *Process) NextTurnNumber() int {
	turns := 0
	for _, part := range p.All {
		turns = max(turns, part.Report.Turns)
	}
	return turns + p.OwnReport.Turns + 1
}

// PartOutputsAsInstances returns the parts' outputs in the form of instances, for the Request that makes one output of
// them. For a part without an output it shows the States of the part's instances.
func (p *Process) PartOutputsAsInstances(states jsonval.Object) []turn.InstanceInput {
	var list []turn.InstanceInput
	for _, part := range p.All {
		shown := jsonval.Object{"output": part.Report.Output}
		if part.Report.Output == nil {
			own := jsonval.Object{}
			for _, token := range part.Tokens {
				own[token] = states[token]
			}
			shown = jsonval.Object{"instances": own}
		}
		list = append(list, turn.InstanceInput{Token: fmt.Sprintf("part %d", part.Number), State: shown})
	}
	return list
}

// AnyPartWithoutOutput reports whether a part made no output, so that PartOutputsAsInstances shows States.
func (p *Process) AnyPartWithoutOutput() bool {
	return slices.ContainsFunc(p.All, func(part Part) bool { return part.Report.Output == nil })
}

// OutputSource returns the source of the output, once all parts have ended; ask means that the LLM must be asked for it
// first. If it returns neither, the process has no output, or has it already.
func (p *Process) OutputSource(i *ideafile.Idea) (list []loop.Wiring, ask bool) {
	switch list = p.partOutputWirings(i); {
	case p.OwnReport.Output != nil || p.OwnReport.Error != nil || p.settledInstanceCount() == 0:
		return nil, false
	case p.OwnReport.OutputWirings != nil:
		return p.OwnReport.OutputWirings, false
	case len(list) > 0 && !p.OutputWiringsRefused:
		return list, false
	case i.OutputSchema == nil:
		return nil, false
	case p.llmForbidden():
		p.OwnReport.Error = loop.NoPlanOutputFault()
		return nil, false
	case slices.ContainsFunc(p.All, Part.cancelledOrTerminated):
		return nil, false
	}
	return nil, true
}

// ApplyOutputReply applies the reply to the Request for the output. OutputSource then returns the output, whose
// References must still be resolved.
func (p *Process) ApplyOutputReply(i *ideafile.Idea, r turn.LLMReply) {
	p.OwnReport.Requests++
	p.OwnReport.Usage.Add(r.Usage)
	if r.AnsweringLLM != nil {
		p.AnsweringLLMs = append(p.AnsweringLLMs, *r.AnsweringLLM)
	}
	if !r.Faked && !r.WorkerLost {
		p.OwnReport.Turns += max(1, r.HTTPAttempts)
	}
	switch {
	case !p.IsFinished(): // instances were added meanwhile
	case r.NotRetryable:
		p.PauseReason = r.Fault
	case r.WorkerLost:
		p.WorkerLossesInRow++
		if p.WorkerLossesInRow >= loop.MaxWorkerLossesInRow {
			p.PauseReason, p.WorkerLossesInRow = loop.WorkerLossesFault(loop.MaxWorkerLossesInRow), 0
		}
	case !r.Complete:
		p.refuseReply(r.Fault)
	case r.OutputFault != nil:
		p.refuseReply(r.OutputFault)
	case i.OutputSchema.WithoutNulls(r.Output) == nil:
		p.refuseReply(diag.Faultf(ideafile.CodeBadOutput, "there is no output; the output form wants one"))
	default:
		p.OwnReport.OutputWirings = []loop.Wiring{{Output: i.OutputSchema.WithoutNulls(r.Output),
			Instances: p.InstanceTokens()}}
	}
}

// refuseReply makes the next Request for the output report the error. loop.MaxBadInRow errors in a row pause the
// process.
func (p *Process) refuseReply(f *diag.Fault) {
	p.OutputErrors = []turn.ContextError{{Fault: *f}}
	p.BadOutputsInRow++
	p.WorkerLossesInRow = 0
	if p.BadOutputsInRow >= loop.MaxBadInRow {
		p.PauseReason = diag.Faultf(turn.CodeBadOutputs, "%d bad outputs over all parts in a row; the last one: %s",
			p.BadOutputsInRow, f.Message)
		p.BadOutputsInRow = 0
	}
}

// AcceptOutput takes the output made from OutputSource, and reports whether it is valid. If it is not, the LLM is asked
// for another one with the reason, or the process fails if the LLM may not be asked.
func (p *Process) AcceptOutput(i *ideafile.Idea, out any, f *diag.Fault) (good bool) {
	byReply := p.OwnReport.OutputWirings != nil
	switch p.OwnReport.OutputWirings = nil; {
	case f == nil:
		p.OwnReport.Output, p.BadOutputsInRow, p.WorkerLossesInRow, p.OutputErrors = out, 0, 0, nil
	case byReply:
		p.refuseReply(f)
	default:
		p.OutputWiringsRefused = true
		switch {
		case i.OutputSchema != nil && !p.llmForbidden():
			p.OutputErrors = []turn.ContextError{{Fault: *f}}
		case !slices.ContainsFunc(p.All, func(part Part) bool { return part.Report.FellBackToLLM }):
			p.OwnReport.Error = f
		}
	}
	return f == nil
}

// partOutputWirings returns the Wirings of the parts as if they were one process: the outputs of direct Plans, or the
// output of replies if it is the same in all parts. It returns nil if a part with a settled instance has neither.
func (p *Process) partOutputWirings(i *ideafile.Idea) []loop.Wiring {
	settled := jsonval.Filter(p.All, func(part Part) bool { return part.settledInstanceCount() > 0 })
	if len(settled) == 0 {
		return nil
	}
	wired := settled[0].Report.WiredOutput
	if slices.ContainsFunc(settled, func(part Part) bool {
		return wired == nil || len(part.Report.OutputWirings) > 0 || !jsonval.Equal(part.Report.WiredOutput, wired)
	}) {
		return planOutputWirings(i, settled)
	}
	return []loop.Wiring{{Output: wired, Instances: p.InstanceTokens()}}
}

// planOutputWirings returns the outputs of direct Plans in the order of these Plans in the context of the whole.
func planOutputWirings(i *ideafile.Idea, settled []Part) []loop.Wiring {
	byPlace := map[int]loop.Wiring{}
	for _, part := range settled {
		if len(part.Report.OutputWirings) == 0 {
			return nil
		}
		places := part.messagePositionsInWhole(i)
		for _, w := range part.Report.OutputWirings {
			if w.DirectPlanPosition > len(places) {
				return nil
			}
			place := places[w.DirectPlanPosition-1]
			whole := byPlace[place]
			byPlace[place] = loop.Wiring{Output: w.Output, Instances: append(whole.Instances, w.Instances...),
				DirectPlanPosition: place}
		}
	}
	var list []loop.Wiring
	for _, w := range jsonval.Sorted(byPlace) {
		list = append(list, w)
	}
	return list
}

// messagePositionsInWhole returns the positions of the part's own Messages in the context of the whole, from 1.
func (part Part) messagePositionsInWhole(i *ideafile.Idea) (places []int) {
	for n, msg := range i.Context {
		if (msg.InstanceToken == "" || slices.Contains(part.Tokens, msg.InstanceToken)) && !turn.IsHistoryMessage(msg) {
			places = append(places, n+1)
		}
	}
	return places
}
