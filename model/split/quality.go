package split

import (
	"processidea/model/ideafile"
	"processidea/model/quality"
)

// The consequences of how often the LLM's second answer differed. Parts do not decide on them, since their counts are
// added up.

// Quality reports the rechecks of all parts; nil: nothing was asked twice.
func (p *Process) Quality() *quality.Report { return p.rechecked(0).Report(p.Size, p.QualityLimit) }

// rechecked adds up the rechecks of parts of one size; 0: all.
func (p *Process) rechecked(size int) (all quality.Tally) {
	for _, part := range p.All {
		if size == 0 || part.Size == size {
			all.Merge(part.Report.Quality)
		}
	}
	return all
}

// followQuality changes the size of the parts that have not begun, or pauses the process, depending on what was
// measured at the present size only: earlier sizes do not predict it.
func (p *Process) followQuality() {
	switch p.OnLimit {
	case ideafile.ShrinkRequests:
		size, because := quality.NextSize(p.InstancesPerPart, p.MaxPerPart, p.rechecked(p.InstancesPerPart).Count,
			p.QualityLimit)
		if size < p.InstancesPerPart {
			p.MaxPerPart = p.InstancesPerPart - 1 // what is measured good below says nothing of it
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

// SetFirstSize has the parts begin with a size that was not known when the process was split.
func (p *Process) SetFirstSize(size quality.Size) {
	if p.Size = size; size.First != p.InstancesPerPart {
		p.resizeParts(size.First)
	}
}

// resizeParts cuts the instances of parts that have not begun into parts of another size; false: all have begun.
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
