package desk

import (
	"processidea/client"
	"processidea/client/readable"
	"processidea/client/rulewords"
	"processidea/model/check/plangraph"
	"processidea/model/diag"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// Functions for texts on pages, by their names in templates.
var (
	visibleText, clip, shortText = readable.VisibleText, readable.Clip, readable.ShortText
	plural, withThousandsCommas  = readable.Plural, diag.WithThousandsCommas
	agoText, untilText           = readable.AgoText, readable.UntilText
	isNumber, newFactBuilder     = readable.IsNumber, readable.NewFactBuilder
)

type fact = readable.Fact

// clipName and clipParagraph shorten a text from outside: for a name or a cell, and for a paragraph.
func clipName(s string) string      { return visibleText(clip(s, maxCellChars)) }
func clipParagraph(s string) string { return visibleText(clip(s, maxTextBytes)) }

const maxTextBytes = readable.MaxTextBytes

// planLabels returns the names for the picture of a process's Plan.
func (v *visit) planLabels(processID string) plangraph.Labels {
	labels := plangraph.Labels{Presenter: v.Client.Process(processID).Presenter(v.Context())}
	if all, err := loadCatalogues(); err == nil {
		labels.Translate = all[client.LanguageOf(v.Context())].Translate
	}
	return labels
}

// factsOf describes the members of a value.
func factsOf(v any, l shown.Language) []fact {
	return newFactBuilder(l).Build(jsonval.ToJSONValue(v)).Facts
}

// rulesInWords returns each part of a condition on a Call's parameters in words.
func rulesInWords(f shown.Format, condition any, l shown.Language) []string {
	texts, _ := rulewords.ConditionTexts(f, condition, l, translatorOf(l))
	return texts
}

// ruleInWords is rulesInWords as one text.
func ruleInWords(f shown.Format, condition any, l shown.Language) string {
	return rulewords.ConditionText(f, condition, l, translatorOf(l))
}

// reviewRuleText returns in words because of which rule of its Tool's policy a person looks at a Call; "" if it waits
// for another reason, or of all Calls of the Tool.
func reviewRuleText(a client.Approval) string {
	if a.ReviewReason != "" {
		return ""
	}
	return ruleInWords(a.ParamsFormat, a.ReviewCondition, a.Language)
}

// translatorOf returns what puts texts of some kind into a language.
func translatorOf(l shown.Language) rulewords.Translate {
	if all, err := loadCatalogues(); err == nil {
		return all[l].TranslateAs
	}
	return nil
}
