package ideafile

import (
	"fmt"

	"processidea/model/diag"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// checkApprovalToolNames refuses unknown Tools: an author who names one relies on a person being asked.
func (i *Idea) checkApprovalToolNames(ps *diag.Problems) {
	for n, name := range i.Config.ApprovalOversight.ToolNames {
		ps.Append(i.UnknownToolProblems(name, fmt.Sprintf("$.config.approval.tools[%d]", n))...)
	}
}

// dropUnsatisfiableCondition makes a person be asked about every Call if the condition requires a parameter that the
// Tool does not have: no Call would ever match it, and each would run without approval.
func (t *Tool) dropUnsatisfiableCondition(path string, ps *diag.Problems) {
	a := t.Approval
	if a == nil || a.ParamsCondition == nil || t.AllowsExtraParams {
		return
	}
	for _, name := range jsonschema.RequiredProperties(a.ParamsCondition.Source) {
		if _, isDeclared := t.SchemaByParam[name]; !isDeclared {
			ps.Warn(
				path+".when",
				"it requires %q, which is no parameter of the tool, so a person is asked about every Call%s",
				jsonval.ClipForError(name), diag.DidYouMean(name, jsonval.SortedKeys(t.SchemaByParam)))
			a.ParamsCondition = nil
			return
		}
	}
}
