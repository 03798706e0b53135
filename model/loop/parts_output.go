package loop

import (
	"fmt"
	"slices"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// How a process in parts comes to one output.

// NextTurn returns the turn of the Request that asks for the output.
func (p *Parts) NextTurn() int {
	turns := 0
	for _, part := range p.All {
		turns = max(turns, part.Report.Turns)
	}
	return turns + p.OwnReport.Turns + 1
}

// OutputsAsInstances returns the parts' outputs in the form of instances, for the Request that makes one output of them. Of a part
// that was to make none, it shows the States of its instances.
func (p *Parts) OutputsAsInstances(states map[string]any) []turn.InstanceInput {
	var list []turn.InstanceInput
	for _, part := range p.All {
		shown := map[string]any{"output": part.Report.Output}
		if part.Report.Output == nil {
			own := map[string]any{}
			for _, token := range part.Tokens {
				own[token] = states[token]
			}
			shown = map[string]any{"instances": own}
		}
		list = append(list, turn.InstanceInput{Token: fmt.Sprintf("part %d", part.Number), State: shown})
	}
	return list
}

// AnyPartWithoutOutput reports whether a part made no output, so that OutputsAsInstances shows States.
func (p *Parts) AnyPartWithoutOutput() bool {
	return slices.ContainsFunc(p.All, func(part ProcessPart) bool { return part.Report.Output == nil })
}

// OutputWiringsOrAskLLM returns what the output of the process is made of, once all parts have ended; ask: the LLM is to be asked for it
// first. Neither: the process has no output, or it stands already.
func (p *Parts) OutputWiringsOrAskLLM(i *ideafile.Idea) (list []OutputWiring, ask bool) {
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
		p.OwnReport.Error = faultNoPlanOutput()
		return nil, false
	case slices.ContainsFunc(p.All, ProcessPart.cancelledOrTerminated):
		return nil, false
	}
	return nil, true
}

// ApplyOutputReply applies the reply to the Request for the output. Its References are still to be resolved: OutputWiringsOrAskLLM returns it.
func (p *Parts) ApplyOutputReply(i *ideafile.Idea, r turn.LLMReply) {
	p.OwnReport.Requests++
	p.OwnReport.Usage.Add(r.Usage)
	if r.AnsweringLLM != nil {
		p.AnsweringLLMs = append(p.AnsweringLLMs, *r.AnsweringLLM)
	}
	if !r.Faked && !r.WorkerLost {
		p.OwnReport.Turns += max(1, r.HTTPAttempts)
	}
	switch {
	case !p.Finished(): // instances were added meanwhile
	case r.NotRetryable:
		p.PauseReason = r.Fault
	case r.WorkerLost:
		p.WorkerLossesInRow++
		if p.WorkerLossesInRow >= maxWorkerLossesInRow {
			p.PauseReason, p.WorkerLossesInRow = faultWorkerLosses(maxWorkerLossesInRow), 0
		}
	case !r.Complete:
		p.refuseReply(r.Fault)
	case r.OutputFault != nil:
		p.refuseReply(r.OutputFault)
	case i.OutputSchema.WithoutNulls(r.Output) == nil:
		p.refuseReply(diag.Faultf(ideafile.CodeBadOutput, "there is no output; the output form wants one"))
	default:
		p.OwnReport.OutputWirings = []OutputWiring{{Output: i.OutputSchema.WithoutNulls(r.Output), Instances: p.allInstanceTokens()}}
	}
}

// refuseReply has the next Request for the output told what was wrong. The third bad one in a row pauses the process.
func (p *Parts) refuseReply(f *diag.Fault) {
	p.OutputErrors = []turn.ContextError{{Fault: *f}}
	p.BadOutputsInRow++
	p.WorkerLossesInRow = 0
	if p.BadOutputsInRow >= maxBadInRow {
		p.PauseReason = diag.Faultf(turn.CodeBadOutputs, "%d bad outputs over all parts in a row; the last one: %s", p.BadOutputsInRow, f.Message)
		p.BadOutputsInRow = 0
	}
}

// AcceptOutput takes what the output came to that OutputWiringsOrAskLLM returned, and reports whether it is one. If it is none, the LLM is
// told why and asked for another one, or the process has failed where that may not be.
func (p *Parts) AcceptOutput(i *ideafile.Idea, out any, f *diag.Fault) (good bool) {
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
		case !slices.ContainsFunc(p.All, func(part ProcessPart) bool { return part.Report.FellBackToLLM }):
			p.OwnReport.Error = f
		}
	}
	return f == nil
}
