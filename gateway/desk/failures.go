package desk

import (
	"cmp"
	"slices"

	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/turn"
)

// failureRow is a reason why steps of a kind did not succeed, in the words of the business.
type failureRow struct {
	ToolTitle, Reason string // ToolTitle is a title; empty: the steps name none
	Count             int
}

const (
	badPlanText    = "it was planned in a way that cannot be done"
	blockedText    = "what it needed never came"
	notAllowedText = "operators must allow it here first"
)

// textByFailureCode says what an error code means. The message of a fault is for operators: it has codes, addresses and
// what programs write.
var textByFailureCode = map[string]string{
	ideafile.CodeBadForm: badPlanText, ideafile.CodeUnknownTool: badPlanText, ideafile.CodeUnknownKey: badPlanText,
	ideafile.CodeBadInstance: badPlanText, ideafile.CodeBadParams: badPlanText, ideafile.CodeBadReference: badPlanText,
	ideafile.CodeBadPath: badPlanText, ideafile.CodeBlocked: blockedText,
	ideafile.CodeBadOutput:           "what came of it is not what it should give",
	ideafile.CodeUndecided:           "it is not clear whether it should be done",
	ideafile.CodeOutcomeUnknown:      "it is not known whether it took effect",
	ideafile.CodeStoreUnavailable:    "its result could not have been kept, so it was not done",
	ideafile.CodeDelegateFailed:      "the process that it started did not come to a good end",
	ideafile.CodeNotSimulated:        "no result could be made up for it",
	ideafile.CodeMCPUnreachable:      "the system that does it did not answer",
	ideafile.CodeMCPInputRequired:    "the system that does it wanted to ask somebody",
	ideafile.CodeToolChanged:         "the system that does it has changed: operators must look at it first",
	ideafile.CodeMCPServerNotAllowed: notAllowedText, ideafile.CodeToolAccessDenied: notAllowedText,
}

// failureRows groups the reasons why Calls did not succeed by what they mean to people. Whoever rejected a Call is
// named, with the reason that they gave.
func failureRows(list turn.Failures, presenter *shown.Presenter) (rows []failureRow) {
	for _, f := range list {
		row := failureRow{Reason: cmp.Or(textByFailureCode[f.Code], "it was tried and did not work")}
		if f.Tool != "" {
			row.ToolTitle = clipName(presenter.ToolTitle(f.Tool))
		}
		if f.Status == ideafile.CallRejected {
			row.Reason = clipParagraph(f.Message)
		}
		index := slices.IndexFunc(rows, func(r failureRow) bool {
			return r.ToolTitle == row.ToolTitle &&
				r.Reason == row.Reason
		})
		if index < 0 {
			index, rows = len(rows), append(rows, row)
		}
		rows[index].Count += f.CallCount
	}
	return rows
}
