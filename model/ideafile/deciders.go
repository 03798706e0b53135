package ideafile

import (
	"fmt"
	"strings"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/jsonval"
)

// checkDeciderExclusions refuses policies that name unknown Calls or Tools: an author who names one relies on somebody
// else deciding.
func (i *Idea) checkDeciderExclusions(ps *diag.Problems) {
	for _, t := range i.Tools {
		if t.Approval != nil {
			i.checkExcludedCallNames(t.Approval.Deciders, t.JSONPath()+"._approval.by", ps)
		}
	}
	i.checkExcludedCallNames(i.Config.ApprovalOversight.Deciders, "$.config.approval.by", ps)
}

func (i *Idea) checkExcludedCallNames(r *policy.DeciderRule, path string, ps *diag.Problems) {
	if r == nil {
		return
	}
	for n, name := range r.CallsWithExcludedDeciders {
		namePath := fmt.Sprintf("%s.notSameAs[%d]", path, n)
		key, isID := ParseCallKey(name)
		_, isMCPCandidate := i.findCandidateMCPServer(name)
		switch {
		case i.Tool(name) != nil:
		case isID && strings.Contains(name, "@"):
			ps.Add(namePath, "it always means a Call of the same instance: write %s without an instance", key.ID(""))
		case isID && key.Request > 0:
			ps.Warn(
				namePath,
				"the LLM decides which Call becomes %s, and whether there is one: name the Tool instead",
				name)
		case isID && key.Index > i.maxDirectPlanLength():
			ps.Add(namePath, "no Plan that runs without a Request has a Call %s", name)
		case isID:
		case isMCPCandidate:
			ps.Append(i.UnknownToolProblems(name, namePath)...)
		default:
			ps.Add(namePath, "want the id of a Call, such as 1.1, or the name of a Tool; the palette has no %q%s",
				jsonval.ClipForError(name),
				diag.DidYouMean(name, i.toolNames()))
		}
	}
}

// maxDirectPlanLength returns the number of Calls of the longest Plan that runs without a Request.
func (i *Idea) maxDirectPlanLength() (n int) {
	for _, m := range i.Context {
		if m.IsDirectPlan() {
			n = max(n, len(m.PlanCalls))
		}
	}
	return n
}

// HasDeciderExclusions reports whether a policy excludes people who decided on other Calls.
func (i *Idea) HasDeciderExclusions() bool {
	hasExclusions := i.Config.ApprovalOversight.Deciders != nil &&
		len(i.Config.ApprovalOversight.Deciders.CallsWithExcludedDeciders) > 0
	for _, t := range i.Tools {
		hasExclusions = hasExclusions || t.Approval != nil && t.Approval.Deciders != nil &&
			len(t.Approval.Deciders.CallsWithExcludedDeciders) > 0
	}
	return hasExclusions
}

func (i *Idea) toolNames() []string {
	return jsonval.Map(i.Tools, func(t *Tool) string { return t.Name })
}
