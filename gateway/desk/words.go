package desk

import (
	"processidea/client"
	"processidea/client/readable"
	"processidea/model/check/plangraph"
	"processidea/model/diag"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// Functions for texts on pages, by their names in templates.
var (
	visible, clip, shortText = readable.Visible, readable.Clip, readable.ShortText
	plural, thousands        = readable.Plural, diag.Thousands
	ago, until               = readable.Ago, readable.Until
	isNumber, newTeller      = readable.IsNumber, readable.NewFactBuilder
)

type fact = readable.Fact

// clipName and long are texts from outside: short for a name or a cell, long for a paragraph.
func clipName(s string) string      { return visible(clip(s, cellLength)) }
func clipParagraph(s string) string { return visible(clip(s, longestText)) }

const longestText = readable.MaxTextBytes

// labels are how the picture of a Plan of a process names things.
func (v *visit) labels(process string) plangraph.Labels {
	labels := plangraph.Labels{Words: v.Client.Process(process).Words(v.Context())}
	if all, err := catalogues(); err == nil {
		labels.Say = all[client.LanguageOf(v.Context())].Say
	}
	return labels
}

// factsOf describes the members of a value.
func factsOf(v any, l shown.Language) []fact {
	return newTeller(l).Build(jsonval.ToJSONValue(v)).Facts
}
