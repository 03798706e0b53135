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

// AlternativesChangeID names the rule that another Call may make up for one that came to nothing. Processes that began
// before it ask the LLM about every Call that came to nothing.
const AlternativesChangeID = "alternatives make up for a Call"

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
	// CallReports are the reports of the Calls, in any order.
	CallReports []turn.CallReport
	// FindWrittenCall returns a Call as the LLM wrote it, or the zero FindWrittenCall if that is not known.
	FindWrittenCall func(ideafile.CallKey) ideafile.WrittenCall
	// IsPatched is called with AlternativesChangeID only if the answer matters.
	IsPatched func(change string) bool
}

// HasFailed reports whether a Call came to nothing and no other Call has made up for it or may still do so.
func (p PlanResult) HasFailed() bool {
	unsuccessfulCalls := p.unsuccessfulCalls()
	for _, c := range unsuccessfulCalls {
		if !p.hasAlternativeValue(c) && !p.mayGetAlternativeValue(c) {
			return true
		}
	}
	return len(unsuccessfulCalls) > 0 && !p.IsPatched(AlternativesChangeID)
}

// HasSucceeded reports whether every Call is done, skipped because its value existed already, or made up for.
func (p PlanResult) HasSucceeded() bool {
	anyUnfinished := slices.ContainsFunc(p.CallReports, func(c turn.CallReport) bool { return !c.Status.IsFinal() })
	return !anyUnfinished && !p.HasFailed()
}

func (p PlanResult) unsuccessfulCalls() []turn.CallReport {
	return jsonval.Filter(p.CallReports, func(c turn.CallReport) bool {
		return c.Status.IsFinal() && c.Status != ideafile.CallDone && c.Status != ideafile.CallSkipped
	})
}

// hasAlternativeValue reports whether State has a value at every path of one of the Call's branches. It does not look
// inside values that are kept in the store.
func (p PlanResult) hasAlternativeValue(c turn.CallReport) bool {
	for _, branch := range p.replaceableOutputPath(c) {
		anyMissing := slices.ContainsFunc(branch, func(path jsonval.Path) bool {
			_, exists := jsonval.ValueAt(p.State, path)
			return !exists
		})
		if !anyMissing {
			return true
		}
	}
	return false
}

// mayGetAlternativeValue reports whether an unfinished Call of the Plan may still provide the value of a Call that came
// to nothing.
func (p PlanResult) mayGetAlternativeValue(c turn.CallReport) bool {
	wantedPaths := p.replaceableOutputPath(c).Paths()
	return slices.ContainsFunc(p.CallReports, func(other turn.CallReport) bool {
		return !other.Status.IsFinal() && slices.ContainsFunc(p.replaceableOutputPath(other).Paths(),
			func(path jsonval.Path) bool {
				return slices.ContainsFunc(wantedPaths, path.Overlaps)
			})
	})
}

// replaceableOutputPath returns the paths of the value that a Call is for. It returns none if no value can prove that
// another Call did the same, or if the LLM must read a person's decision on the Call.
func (p PlanResult) replaceableOutputPath(c turn.CallReport) refexpr.OutputPath {
	call, ok := p.Idea.OutputMetaOf(p.FindWrittenCall(c.CallKey()))
	if !ok || call.OutputPath.WritesWholeState() || call.OutputMethod != "" {
		return nil
	}
	// a person changed the Call, or refused it with a reason
	isObjection := func(d approval.Decision) bool {
		return d.Kind != policy.Approve && d.DecidedBy != approval.DecidedByTimeout
	}
	if slices.ContainsFunc(c.Decisions, isObjection) {
		return nil
	}
	return call.OutputPath
}
