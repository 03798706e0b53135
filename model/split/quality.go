package split

import (
	"processidea/model/ideafile"
	"processidea/model/quality"
)

// This file acts on how often the LLM's second answers differed. Parts do not act on that themselves, since their
// counts must be added up.

// Quality reports the rechecks of all parts; nil if nothing was asked twice.
func (p *Process) Quality() *quality.Report { return p.recheckTally(0).Report(p.Size, p.QualityLimit) }

// recheckTally adds up the rechecks of the parts of one size; size 0 means all parts.
func (p *Process) recheckTally(size int) (tally quality.Tally) {
	for _, part := range p.Parts {
		if size == 0 || part.Capacity == size {
			tally.Merge(part.Report.Quality)
		}
	}
	return tally
}

// applyQualityLimit changes the size of the parts that have not begun, or pauses the process, depending on
// OnQualityLimit. The new size depends only on rechecks at the present size, since those at earlier sizes do not
// predict its quality.
func (p *Process) applyQualityLimit() {
	switch p.OnQualityLimit {
	case ideafile.ShrinkRequests:
		size, reason := quality.NextSize(p.InstancesPerPart, p.MaxInstancesPerPart,
			p.recheckTally(p.InstancesPerPart).RecheckCount, p.QualityLimit)
		if size < p.InstancesPerPart {
			p.MaxInstancesPerPart = p.InstancesPerPart - 1 // a good measure below this size says nothing about it
		}
		if reason != "" && p.resizeParts(size) {
			p.Size.Current, p.Size.Reason = size, reason
		}
	case ideafile.PauseProcess:
		recheckCount := p.recheckTally(0).RecheckCount
		if p.PauseReason == nil && !p.HasPausedForDisagreement && recheckCount.IsShareAbove(p.QualityLimit) {
			p.HasPausedForDisagreement = true
			p.PauseReason = quality.PauseFault(recheckCount, p.QualityLimit)
		}
	}
}

// SetFirstSize sets the size of parts that have not begun, if it was not known when the process was split.
func (p *Process) SetFirstSize(size quality.RequestSize) {
	if p.Size = size; size.Initial != p.InstancesPerPart {
		p.resizeParts(size.Initial)
	}
}

// resizeParts divides the instances of parts that have not begun into parts of another size. It returns false if all
// parts have begun.
func (p *Process) resizeParts(size int) bool {
	var tokens []string
	var startedParts []Part
	for _, part := range p.Parts {
		if part.HasStarted {
			startedParts = append(startedParts, part)
		} else {
			tokens = append(tokens, part.Tokens...)
		}
	}
	if len(tokens) == 0 {
		return false
	}
	p.Parts, p.InstancesPerPart = startedParts, size
	p.addParts(tokens)
	return true
}
