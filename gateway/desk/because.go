package desk

import (
	"fmt"
	"strings"

	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// ruleInWords says a condition on a Call's parameters; "" unless it is made of the bounds and values that a parameter
// may have.
func ruleInWords(f shown.Format, when any, l shown.Language) string {
	terms, ok := ruleTerms(f, jsonval.AsObject(when), l)
	if !ok {
		return ""
	}
	return strings.Join(terms, " and ")
}

func ruleTerms(f shown.Format, schema jsonval.Object, l shown.Language) (terms []string, ok bool) {
	for _, key := range jsonval.SortedKeys(schema) {
		value, about := schema[key], "“"+f.Title+"” is "
		switch key {
		case "type", "required":
		case "minimum":
			terms = append(terms, about+f.Text(value, l)+" or more")
		case "maximum":
			terms = append(terms, about+f.Text(value, l)+" or less")
		case "const":
			terms = append(terms, about+f.Text(value, l))
		case "enum":
			list := shown.Format{Items: &f}
			terms = append(terms, fmt.Sprintf("“%s” is one of %s", f.Title, list.Text(value, l)))
		case "properties":
			for name, below := range jsonval.Sorted(jsonval.AsObject(value)) {
				member := f.At(jsonval.Path{name})
				if member.Title == "" {
					member.Title = name
				}
				more, isGiven := ruleTerms(member, jsonval.AsObject(below), l)
				if !isGiven || member.Display == shown.Hidden {
					return nil, false
				}
				terms = append(terms, more...)
			}
		default:
			return nil, false
		}
	}
	return terms, true
}
