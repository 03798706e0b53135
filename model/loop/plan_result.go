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

// ChangeIDAlternatives names the rule that another Call may make up for one that came to nothing. Processes that began
// before it ask the LLM about every Call that came to nothing.
const ChangeIDAlternatives = "alternatives make up for a Call"

// PlanResult is what is known of the Calls that one Request planned for an instance. It decides whether each Call, or
// another Call in its place, provided its value. The decision depends only on State and on how the Calls ended, not on
// their order.
//
//	the Call                         and State at its output path   the Plan
//	failed, blocked, or rejected     holds a value                  it is made up for: as good as done
//	since nobody decided in time     no value, and an unfinished    it may still be made up for
//	                                 Call of the Plan writes there
//	                                 no value                       has failed
//	rejected by a person             in any case                    has failed: the LLM reads the reason
//	changed by a person, and         in any case                    has failed: the path may be another one
//	failed or blocked then
//	without an output path, an       in any case                    has failed: no value proves that another
//	update, or for the whole State                                  Call did the same
type PlanResult struct {
	Idea  *ideafile.Idea
	State any // of the instance
	// Reports are the reports of the Calls, in any order.
	Reports []turn.CallReport
	// WrittenCall returns a Call as the LLM wrote it, or the zero WrittenCall if that is not known.
	WrittenCall func(ideafile.CallKey) ideafile.WrittenCall
	// KnowsChange is called with ChangeIDAlternatives only if the answer matters.
	KnowsChange func(change string) bool
}

// Failed reports whether a Call came to nothing and no other Call has made up for it or may still do so.
func (p PlanResult) Failed() bool {
	toNothing := p.callsThatCameToNothing()
	for _, c := range toNothing {
		if !p.madeUpFor(c) && !p.mayBeMadeUpFor(c) {
			return true
		}
	}
	return len(toNothing) > 0 && !p.KnowsChange(ChangeIDAlternatives)
}

// Succeeded reports whether every Call is done, skipped because its value existed already, or made up for.
func (p PlanResult) Succeeded() bool {
	unfinished := slices.ContainsFunc(p.Reports, func(c turn.CallReport) bool { return !c.Status.IsFinal() })
	return !unfinished && !p.Failed()
}

func (p PlanResult) callsThatCameToNothing() []turn.CallReport {
	return jsonval.Filter(p.Reports, func(c turn.CallReport) bool {
		return c.Status.IsFinal() && c.Status != ideafile.Done && c.Status != ideafile.Skipped
	})
}

// madeUpFor reports whether State has a value at every path of one of the Call's branches. It does not look inside
// values that are kept in the store.
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

// mayBeMadeUpFor reports whether an unfinished Call of the Plan may still provide the value of a Call that came to
// nothing.
func (p PlanResult) mayBeMadeUpFor(c turn.CallReport) bool {
	wanted := p.valueOf(c).Paths()
	return slices.ContainsFunc(p.Reports, func(other turn.CallReport) bool {
		return !other.Status.IsFinal() && slices.ContainsFunc(p.valueOf(other).Paths(), func(path jsonval.Path) bool {
			return slices.ContainsFunc(wanted, path.Overlaps)
		})
	})
}

// valueOf returns the paths of the value that a Call is for. It returns none if no value can prove that another Call
// did the same, or if the LLM must read a person's decision on the Call.
func (p PlanResult) valueOf(c turn.CallReport) refexpr.OutputPath {
	call, ok := p.Idea.OutputOf(p.WrittenCall(c.CallKey()))
	if !ok || call.OutputPath.WritesWholeState() || call.OutputMethod != "" {
		return nil
	}
	// a person changed the Call, or refused it with a reason
	mustBeRead := func(d approval.Decision) bool {
		return d.Kind != policy.Approve && d.DecidedBy != approval.DecidedByTimeout
	}
	if slices.ContainsFunc(c.Decisions, mustBeRead) {
		return nil
	}
	return call.OutputPath
}
