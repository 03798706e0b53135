package split

import (
	"processidea/model/ideafile"
	"processidea/model/quality"
)

// This file acts on how often the LLM's second answers differed. Parts do not act on that themselves, since their
// counts must be added up.

// Quality reports the rechecks of all parts; nil if nothing was asked twice.
func (p *Process) Quality() *quality.Report {
	return p.recheckTally(0).Report(p.RequestSize, p.DisagreementLimit)
}

// recheckTally adds up the rechecks of the parts of one size; size 0 means all parts.
func (p *Process) recheckTally(partCapacity int) (tally quality.Tally) {
	for _, part := range p.Parts {
		if partCapacity == 0 || part.InstanceCapacity == partCapacity {
			tally.Merge(part.Report.RecheckTally)
		}
	}
	return tally
}

// applyDisagreementLimit changes the size of the parts that have not begun, or pauses the process, depending on
// OnDisagreementLimit. The new size depends only on rechecks at the present size, since those at earlier sizes do not
// predict its quality.
func (p *Process) applyDisagreementLimit() {
	switch p.OnDisagreementLimit {
	case ideafile.ShrinkRequests:
		size, reason := quality.NextRequestSize(p.InstancesPerPart, p.MaxInstancesPerPart,
			p.recheckTally(p.InstancesPerPart).RecheckCount, p.DisagreementLimit)
		if size < p.InstancesPerPart {
			p.MaxInstancesPerPart = p.InstancesPerPart - 1 // a good measure below this size says nothing about it
		}
		if reason != "" && p.resizeParts(size) {
			p.RequestSize.Current, p.RequestSize.Reason = size, reason
		}
	case ideafile.PauseProcess:
		recheckCount := p.recheckTally(0).RecheckCount
		if p.PauseReason == nil && !p.HasPausedForDisagreement &&
			recheckCount.IsDifferedShareAbove(p.DisagreementLimit) {
			p.HasPausedForDisagreement = true
			p.PauseReason = quality.DisagreementPauseFault(recheckCount, p.DisagreementLimit)
		}
	}
}

// SetInitialRequestSize sets the size of parts that have not begun, if it was not known when the process was split.
func (p *Process) SetInitialRequestSize(size quality.RequestSize) {
	if p.RequestSize = size; size.Initial != p.InstancesPerPart {
		p.resizeParts(size.Initial)
	}
}

// resizeParts divides the instances of parts that have not begun into parts of another size. It returns false if all
// parts have begun.
func (p *Process) resizeParts(instancesPerPart int) bool {
	var unstartedTokens []string
	var startedParts []Part
	for _, part := range p.Parts {
		if part.HasStarted {
			startedParts = append(startedParts, part)
		} else {
			unstartedTokens = append(unstartedTokens, part.InstanceTokens...)
		}
	}
	if len(unstartedTokens) == 0 {
		return false
	}
	p.Parts, p.InstancesPerPart = startedParts, instancesPerPart
	p.addParts(unstartedTokens)
	return true
}
