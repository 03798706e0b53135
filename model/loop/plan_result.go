package loop

import (
	"slices"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/turn"
)

// ChangeAlternatives names what processes that began before it do otherwise: there the LLM was asked about every Call
// that came to nothing.
const ChangeAlternatives = "alternatives make up for a Call"

// PlanResult is what is known of the Calls that one Request planned for an instance: it tells whether each brought
// what it was for, or another Call brought that in its place. It depends on how the Calls ended and on State alone,
// not on the order in which they did.
//
//	the Call                                          and State at its output path          the Plan
//	failed, blocked, or rejected since nobody         holds a value                         it is made up for: as good as done
//	decided in time                                   holds none, and an unfinished Call    it may still be made up for
//	                                                  of the Plan writes the same path
//	                                                  holds none                            has failed
//	rejected by a person                              whatever it holds                     has failed: the LLM reads the reason
//	changed by a person, and failed or blocked then   whatever it holds                     has failed: the path may be another one
//	without an output path, an update, or for the     whatever it holds                     has failed: no value tells that
//	whole State                                                                             another Call did the same
type PlanResult struct {
	Idea  *ideafile.Idea
	State any // the instance's
	// Reports are those of the Calls, in any order.
	Reports []turn.CallReport
	// WrittenCall returns a Call as the LLM wrote it, the zero WrittenCall where that is not known.
	WrittenCall func(ideafile.CallKey) ideafile.WrittenCall
	// Knows is asked for ChangeAlternatives, only where the answer decides.
	Knows func(change string) bool
}

// Failed reports whether a Call came to nothing and neither is nor may still be made up for.
func (p PlanResult) Failed() bool {
	toNothing := p.callsThatCameToNothing()
	for _, c := range toNothing {
		if !p.madeUpFor(c) && !p.mayBeMadeUpFor(c) {
			return true
		}
	}
	return len(toNothing) > 0 && !p.Knows(ChangeAlternatives)
}

// Succeeded reports whether every Call is done, skipped because its value existed already, or made up for.
func (p PlanResult) Succeeded() bool {
	unfinished := slices.ContainsFunc(p.Reports, func(c turn.CallReport) bool { return !c.Status.IsFinal() })
	return !unfinished && !p.Failed()
}

// WasOverruled reports whether a person decided otherwise on a Call than it was planned.
func (p PlanResult) WasOverruled() bool {
	return slices.ContainsFunc(p.Reports, turn.CallReport.WasOverruledByPerson)
}

func (p PlanResult) callsThatCameToNothing() (list []turn.CallReport) {
	for _, c := range p.Reports {
		if c.Status.IsFinal() && c.Status != ideafile.Done && c.Status != ideafile.Skipped {
			list = append(list, c)
		}
	}
	return list
}

// madeUpFor reports whether State has a value at every path of one of the Call's branches. What is within a value that
// lies in the store is not known here.
func (p PlanResult) madeUpFor(c turn.CallReport) bool {
	for _, branch := range p.valueOf(c) {
		missing := slices.ContainsFunc(branch, func(path jsonval.Path) bool {
			_, there := jsonval.ValueAt(p.State, path)
			return !there
		})
		if !missing {
			return true
		}
	}
	return false
}

// mayBeMadeUpFor reports whether an unfinished Call of the Plan may bring the value of a Call that came to nothing.
func (p PlanResult) mayBeMadeUpFor(c turn.CallReport) bool {
	wanted := p.valueOf(c).Paths()
	return slices.ContainsFunc(p.Reports, func(other turn.CallReport) bool {
		return !other.Status.IsFinal() && slices.ContainsFunc(p.valueOf(other).Paths(), func(path jsonval.Path) bool {
			return slices.ContainsFunc(wanted, path.Overlaps)
		})
	})
}

// valueOf returns the paths of the value that a Call is for; none where no value tells that another Call has done the
// same, or where the LLM must read what people said of the Call.
func (p PlanResult) valueOf(c turn.CallReport) refexpr.OutputPath {
	call, ok := p.Idea.OutputOf(p.WrittenCall(c.CallKey()))
	if !ok || call.OutputPath.WritesWholeState() || call.OutputMethod != "" {
		return nil
	}
	if slices.ContainsFunc(c.Decisions, mustBeRead) {
		return nil
	}
	return call.OutputPath
}

// mustBeRead reports whether a decision may tell the LLM how to go on: a person changed the Call, or refused it, with a
// reason.
func mustBeRead(d approval.Decision) bool {
	return d.Kind != policy.Approve && d.DecidedBy != approval.DecidedByTimeout
}
