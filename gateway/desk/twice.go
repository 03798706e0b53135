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

// withTwiceInWords returns a Call that tells in the words of its process of two answers that differ, if it waits
// because of them.
func (v *visit) withTwiceInWords(a client.Approval) client.Approval {
	if _, _, _, is := turn.ReadDisagreement(a.ReviewReason); is {
		a.ReviewReason = twiceInWords(a.ReviewReason, v.labels(a.Process), a.Language)
	}
	return a
}

// twiceInWords puts a text about two answers that differ into the words of a process; any other text stays as it is.
func twiceInWords(text string, labels plangraph.Labels, l shown.Language) string {
	token, first, second, is := turn.ReadDisagreement(text)
	if !is {
		return text
	}
	said := "planned twice, and not alike. First: " + answerInWords(first, labels, l) + ". Then: " +
		answerInWords(second, labels, l)
	if token = strings.TrimSuffix(token, ": "); token != "" {
		said = clipName(labels.Words.NameOf(token)) + ": " + said
	}
	return said
}

func answerInWords(calls []jsonval.Object, labels plangraph.Labels, l shown.Language) string {
	texts := jsonval.Map(calls, func(call jsonval.Object) string {
		tool := jsonval.AsText(call["_tool"])
		title, params := labels.Words.Tool(tool), textOfParams(tool, call, labels, l)
		return strings.TrimSuffix(title+" ("+params+")", " ()")
	})
	return cmp.Or(strings.Join(texts, "; "), "nothing")
}

// textOfParams describes the parameters of a Call as it is written.
func textOfParams(tool string, call jsonval.Object, labels plangraph.Labels, l shown.Language) string {
	params, format := labels.ParamsInWords(call), labels.Words.ParamsFormat(tool)
	if len(params) == 0 {
		return ""
	}
	if format.Properties == nil {
		format.Properties = map[string]shown.Format{}
	}
	return format.Text(params, l)
}
