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

// clipName and clipParagraph shorten a text from outside: for a name or a cell, and for a paragraph.
func clipName(s string) string      { return visible(clip(s, cellLength)) }
func clipParagraph(s string) string { return visible(clip(s, longestText)) }

const longestText = readable.MaxTextBytes

// labels returns the names for the picture of a process's Plan.
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
