package split

import (
	"processidea/model/ideafile"
	"processidea/model/quality"
)

// This file acts on how often the LLM's second answers differed. Parts do not act on that themselves, since their
// counts must be added up.

// Quality reports the rechecks of all parts; nil if nothing was asked twice.
func (p *Process) Quality() *quality.Report { return p.rechecked(0).Report(p.Size, p.QualityLimit) }

// rechecked adds up the rechecks of the parts of one size; size 0 means all parts.
func (p *Process) rechecked(size int) (all quality.Tally) {
	for _, part := range p.All {
		if size == 0 || part.Size == size {
			all.Merge(part.Report.Quality)
		}
	}
	return all
}

// followQuality changes the size of the parts that have not begun, or pauses the process, depending on OnLimit. The new
// size depends only on rechecks at the present size, since those at earlier sizes do not predict its quality.
func (p *Process) followQuality() {
	switch p.OnLimit {
	case ideafile.ShrinkRequests:
		size, because := quality.NextSize(p.InstancesPerPart, p.MaxPerPart, p.rechecked(p.InstancesPerPart).Count,
			p.QualityLimit)
		if size < p.InstancesPerPart {
			p.MaxPerPart = p.InstancesPerPart - 1 // a good measure below this size says nothing about it
		}
		if because != "" && p.resizeParts(size) {
			p.Size.Now, p.Size.Because = size, because
		}
	case ideafile.PauseProcess:
		all := p.rechecked(0).Count
		if p.PauseReason == nil && !p.PausedForDisagreement && all.IsAbove(p.QualityLimit) {
			p.PausedForDisagreement = true
			p.PauseReason = quality.PauseFault(all, p.QualityLimit)
		}
	}
}

// SetFirstSize sets the size of parts that have not begun, if it was not known when the process was split.
func (p *Process) SetFirstSize(size quality.Size) {
	if p.Size = size; size.First != p.InstancesPerPart {
		p.resizeParts(size.First)
	}
}

// resizeParts divides the instances of parts that have not begun into parts of another size. It returns false if all
// parts have begun.
func (p *Process) resizeParts(size int) bool {
	var tokens []string
	var begun []Part
	for _, part := range p.All {
		if part.Started {
			begun = append(begun, part)
		} else {
			tokens = append(tokens, part.Tokens...)
		}
	}
	if len(tokens) == 0 {
		return false
	}
	p.All, p.InstancesPerPart = begun, size
	p.addParts(tokens)
	return true
}
