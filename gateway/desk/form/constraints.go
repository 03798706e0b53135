package form

import (
	"encoding/json"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"processidea/client/readable"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// constraint is a keyword that restricts a value.
type constraint struct {
	schema jsonval.Object // of the keyword alone
	text   string         // in words; empty: there are none, as for most regular expressions
}

// constraintTexts are the keywords in words, in the order in which people read them. A noun is counted.
var constraintTexts = []struct{ key, text, noun string }{
	{"minimum", "at least %s", ""}, {"exclusiveMinimum", "more than %s", ""},
	{"maximum", "at most %s", ""}, {"exclusiveMaximum", "less than %s", ""},
	{"multipleOf", "a multiple of %s", ""},
	{"minLength", "at least %s", "character"}, {"maxLength", "at most %s", "character"},
	{"pattern", "", ""}, {"format", "", ""},
	{"minItems", "at least %s", "item"}, {"maxItems", "at most %s", "item"},
}

var textBySchemaFormat = map[string]string{
	"date": dateHint, "time": "a time of day such as 09:30:00Z",
	"date-time": "a date with a time of day such as 2026-12-04T09:30:00Z",
	"email":     "an email address", "uri": "an address such as https://example.com",
}

const dateHint = "a date such as 2026-12-04"

// constraints lists what a schema asks of the value of a control.
func (a fieldFormatter) constraints(n schemaNode, name string) (list []constraint) {
	if n.choices != nil {
		return nil
	}
	_, isAmount := a.unitFormat(name)
	if len(n.types) == 1 && n.types[0] == "integer" && !isAmount {
		list = append(list, constraint{jsonval.Object{"type": "integer"}, "a whole number"})
	}
	for _, one := range constraintTexts {
		c, text := constraint{schema: jsonval.Object{one.key: n.schema[one.key]}}, ""
		switch v := n.schema[one.key].(type) {
		case json.Number:
			text = v.String()
			if count, err := v.Int64(); err == nil && one.noun != "" {
				text = readable.Plural(int(count), one.noun)
			} else if amountText := a.amountText(name, v); amountText != "" {
				text = amountText
			}
			c.text = fmt.Sprintf(one.text, text)
		case string:
			if c.text = textBySchemaFormat[v]; one.key == "pattern" {
				c.text = describePattern(v)
			}
		default:
			continue
		}
		list = append(list, c)
	}
	return list
}

// hints describes the constraints of a schema in words, for the person who fills in the form. If one has no words, it
// gives an example, if the schema has any. pattern is a regular expression without words.
func (a fieldFormatter) hints(n schemaNode, name string) (hints []string, pattern string) {
	hasUndescribed := false
	for _, c := range a.constraints(n, name) {
		if c.text != "" {
			hints = append(hints, c.text)
			continue
		}
		hasUndescribed, pattern = true, jsonval.AsText(c.schema["pattern"])
	}
	if examples := jsonval.AsList(n.schema["examples"]); hasUndescribed && len(examples) > 0 {
		if text, isText := examples[0].(string); isText {
			hints = append(hints, "such as "+text)
		}
	}
	return hints, pattern
}

// violationText says which constraint an entered value breaks, or "". A text that names another value is not the value.
func (a fieldFormatter) violationText(n schemaNode, name string, value any) string {
	if text, isText := value.(string); isText && strings.Contains(text, "†") {
		return ""
	}
	for _, c := range a.constraints(n, name) {
		s, err := jsonschema.CompileSchema(c.schema)
		switch {
		case err != nil || s.Validate(value) == nil:
		case c.text == "":
			return "this does not have the form that is asked for"
		default:
			return "this does not fit; it must be: " + c.text
		}
	}
	return ""
}

// characterNamesByClass are the characters that people have a name for, by their class in a regular expression.
var characterNamesByClass = map[string][2]string{
	"09": {"digit", "digits"}, "AZ": {"capital letter", "capital letters"}, "az": {"small letter", "small letters"},
	"AZaz": {"letter", "letters"}, "09AZ": {"capital letter or digit", "capital letters or digits"},
	"09az": {"small letter or digit", "small letters or digits"}, "09AZaz": {"letter or digit", "letters or digits"},
}

var datePattern, _ = syntax.Parse(`^\d{4}-\d{2}-\d{2}$`, syntax.Perl)

// wordAlternativesPattern matches a regular expression that lists whole words.
var wordAlternativesPattern = regexp.MustCompile(`^\^\((?:\?:)?([\pL\d _-]+(?:\|[\pL\d _-]+)*)\)\$$`)

// describePattern puts a regular expression into words: one that lists words, or asks for certain characters one after
// the other. It returns "" for any other.
func describePattern(pattern string) string {
	if m := wordAlternativesPattern.FindStringSubmatch(pattern); m != nil {
		return "one of " + strings.ReplaceAll(m[1], "|", ", ")
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	switch {
	case err != nil || tree.Op != syntax.OpConcat:
		return ""
	case tree.Equal(datePattern):
		return dateHint
	}
	parts := tree.Sub
	lastIndex := len(parts) - 1
	if parts[0].Op != syntax.OpBeginText || parts[lastIndex].Op != syntax.OpEndText {
		return ""
	}
	parts = parts[1:lastIndex]
	var texts []string
	for _, part := range parts {
		text := describePatternPart(part)
		if text == "" {
			return ""
		}
		texts = append(texts, text)
	}
	if len(parts) == 1 && parts[0].Op == syntax.OpPlus {
		return "only " + characterName(parts[0].Sub[0], true)
	}
	return strings.Join(texts, ", and then ")
}

// describePatternPart describes a fixed text, or characters of one class.
func describePatternPart(part *syntax.Regexp) string {
	minCount, maxCount := 1, 1
	switch part.Op {
	case syntax.OpLiteral:
		if part.Flags&syntax.FoldCase != 0 {
			return ""
		}
		return "“" + string(part.Rune) + "”"
	case syntax.OpPlus:
		part, maxCount = part.Sub[0], -1
	case syntax.OpRepeat:
		part, minCount, maxCount = part.Sub[0], part.Min, part.Max
	}
	name := characterName(part, minCount != 1 || maxCount > 1)
	switch {
	case name == "" || minCount == 0:
		return ""
	case maxCount < 0:
		return fmt.Sprintf("at least %d %s", minCount, name)
	case maxCount > minCount:
		return fmt.Sprintf("%d to %d %s", minCount, maxCount, name)
	}
	return fmt.Sprintf("%d %s", minCount, name)
}

func characterName(class *syntax.Regexp, isPlural bool) string {
	if class.Op != syntax.OpCharClass {
		return ""
	}
	names := characterNamesByClass[string(class.Rune)]
	if isPlural {
		return names[1]
	}
	return names[0]
}
