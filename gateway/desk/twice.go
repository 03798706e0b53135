package desk

import (
	"cmp"
	"strings"

	"processidea/client"
	"processidea/model/check/plangraph"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// withDisagreementText returns a Call that tells in the words of its process of two answers that differ, if it waits
// because of them.
func (v *visit) withDisagreementText(a client.Approval) client.Approval {
	if _, _, _, isDisagreement := turn.ReadDisagreement(a.ReviewReason); isDisagreement {
		a.ReviewReason = disagreementText(a.ReviewReason, v.planLabels(a.Process), a.Language)
	}
	return a
}

// disagreementText puts a text about two answers that differ into the words of a process; any other text stays as it
// is.
func disagreementText(text string, labels plangraph.Labels, l shown.Language) string {
	token, firstCalls, secondCalls, isDisagreement := turn.ReadDisagreement(text)
	if !isDisagreement {
		return text
	}
	sentence := "planned twice, and not alike. First: " + callsInWords(firstCalls, labels, l) + ". Then: " +
		callsInWords(secondCalls, labels, l)
	if token = strings.TrimSuffix(token, ": "); token != "" {
		sentence = clipName(labels.Presenter.KnownInstanceName(token)) + ": " + sentence
	}
	return sentence
}

func callsInWords(calls []jsonval.Object, labels plangraph.Labels, l shown.Language) string {
	texts := jsonval.Map(calls, func(call jsonval.Object) string {
		tool := jsonval.AsText(call["_tool"])
		title, params := labels.Presenter.ToolTitle(tool), textOfParams(tool, call, labels, l)
		return strings.TrimSuffix(title+" ("+params+")", " ()")
	})
	return cmp.Or(strings.Join(texts, "; "), "nothing")
}

// textOfParams describes the parameters of a Call as it is written.
func textOfParams(tool string, call jsonval.Object, labels plangraph.Labels, l shown.Language) string {
	params, format := labels.ParamsInWords(call), labels.Presenter.ParamsFormat(tool)
	if len(params) == 0 {
		return ""
	}
	if format.Properties == nil {
		format.Properties = map[string]shown.Format{}
	}
	return format.Text(params, l)
}
