package desk

import (
	"processidea/client/readable"
	"processidea/model/jsonval"
)

// What stands on pages, by the names that templates have for it.
var (
	visible, clip, shortText = readable.Visible, readable.Clip, readable.ShortText
	plural, thousands        = readable.Plural, readable.Thousands
	ago, until, stamp        = readable.Ago, readable.Until, readable.Stamp
	isNumber, newTeller      = readable.IsNumber, readable.NewFactBuilder
)

type fact = readable.Fact

// short and long are texts from outside, as they stand in a name or a cell, and in a paragraph.
func short(s string) string { return visible(clip(s, cellLength)) }
func long(s string) string  { return visible(clip(s, longestText)) }

const longestText = readable.MaxTextBytes

// factsOf tells the members of a value.
func factsOf(v any) []fact { return newTeller().Build("", jsonval.ToJSONValue(v)).Facts }
