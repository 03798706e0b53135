package desk

import (
	"processidea/client/readable"
	"processidea/model/diag"
	"processidea/model/jsonval"
)

// Functions for texts on pages, by their names in templates.
var (
	visible, clip, shortText = readable.Visible, readable.Clip, readable.ShortText
	plural, thousands        = readable.Plural, diag.Thousands
	ago, until, stamp        = readable.Ago, readable.Until, readable.Stamp
	isNumber, newTeller      = readable.IsNumber, readable.NewFactBuilder
)

type fact = readable.Fact

// short and long are texts from outside: short for a name or a cell, long for a paragraph.
func short(s string) string { return visible(clip(s, cellLength)) }
func long(s string) string  { return visible(clip(s, longestText)) }

const longestText = readable.MaxTextBytes

// factsOf describes the members of a value.
func factsOf(v any) []fact { return newTeller().Build("", jsonval.ToJSONValue(v)).Facts }
