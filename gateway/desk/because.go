package desk

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"processidea/client/readable"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// conditionTexter puts conditions on a Call's parameters, which are JSON Schemas, into words of a reader's language. It
// mentions conditions for which it has no words, because pages also show conditions as written, for operators.
type conditionTexter struct {
	language shown.Language
	in       func(kind, text string) string // InContext of the language's catalogue
}

// ForOperators is in each clause that does not say the whole condition.
const ForOperators = "“For operators”"

// RulesInWords returns each part of a condition in words.
func RulesInWords(f shown.Format, when any, l shown.Language) []string {
	r := newRuler(l)
	return jsonval.Map(r.terms("", f, jsonval.AsObject(when)), func(c clause) string { return c.text })
}

// ruleInWords returns a condition in words as one text, or "" if it asks for nothing.
func ruleInWords(f shown.Format, when any, l shown.Language) string {
	r := newRuler(l)
	return r.all(r.terms("", f, jsonval.AsObject(when))).text
}

func newRuler(l shown.Language) conditionTexter {
	r := conditionTexter{l, func(_, text string) string { return text }}
	if all, err := catalogues(); err == nil {
		r.in = all[l].InContext
	}
	return r
}

// clause is a condition in words. A compound clause gets parentheses within another one.
type clause struct {
	text     string
	compound bool
}

func (c clause) part() string {
	if c.compound {
		return "(" + c.text + ")"
	}
	return c.text
}

// all joins clauses that must all hold.
func (r conditionTexter) all(list []clause) clause { return r.joined("%s and %s", list) }

func (r conditionTexter) joined(with string, list []clause) clause {
	switch len(list) {
	case 0:
		return clause{}
	case 1:
		return list[0]
	}
	text := list[0].part()
	for _, one := range list[1:] {
		text = r.say(with, text, one.part())
	}
	return clause{text, true}
}

// say translates a format and puts texts into it. In the catalogue, {1} stands for the first %s.
func (r conditionTexter) say(format string, texts ...string) string {
	var pairs []string
	for n, text := range texts {
		place := fmt.Sprintf("{%d}", n+1)
		format, pairs = strings.Replace(format, "%s", place, 1), append(pairs, place, text)
	}
	return strings.NewReplacer(pairs...).Replace(r.in("rule", format))
}

// unsaid returns the clause for a condition that has no words here.
func (r conditionTexter) unsaid(about string) clause {
	if about == "" {
		return clause{text: r.say("a condition is met that stands under “For operators”")}
	}
	return clause{text: r.say("%s meets a condition that stands under “For operators”", about)}
}

// terms returns the conditions of a schema in words, or none if it asks for nothing. about names the value that the
// schema describes; "" stands for all parameters together.
func (r conditionTexter) terms(about string, f shown.Format, schema jsonval.Object) (list []clause) {
	properties := jsonval.AsObject(schema["properties"])
	for _, key := range jsonval.SortedKeys(schema) {
		value := schema[key]
		said, ok := r.values(about, f, key, value)
		if ok {
			list = append(list, clause{text: said})
			continue
		}
		switch key {
		case "title", "description", "$comment":
		case "type": // implied by the other conditions on the value
			if len(schema) == 1 && about != "" {
				list = append(list, r.unsaid(about))
			}
		case "required":
			for _, name := range jsonval.AsList(value) {
				if text := jsonval.AsText(name); properties[text] == nil {
					list = append(list, r.given(f, text, true))
				}
			}
		case "properties":
			for name, below := range jsonval.Sorted(properties) {
				list = append(list, r.member(f, name, below)...)
			}
		case "items", "contains":
			list = append(list, r.items(about, f, key == "items", jsonval.AsObject(value)))
		case "allOf", "anyOf", "oneOf":
			list = append(list, r.several(about, f, key, jsonval.AsList(value))...)
		case "if":
			list = append(list, r.conditional(about, f, schema)...)
		case "then", "else": // covered by "if"
		case "not":
			list = append(list, r.not(about, f, jsonval.AsObject(value)))
		default:
			list = append(list, r.unsaid(about))
		}
	}
	return withoutRepeats(list)
}

// several returns the clauses for allOf, anyOf or oneOf.
func (r conditionTexter) several(about string, f shown.Format, key string, schemas []any) (parts []clause) {
	for _, one := range schemas {
		parts = append(parts, r.all(r.terms(about, f, jsonval.AsObject(one))))
	}
	switch {
	case slices.Contains(parts, clause{}): // one schema asks for nothing
		return []clause{r.unsaid(about)}
	case key == "allOf" || len(parts) < 2:
		return parts
	}
	said := r.joined("%s, or %s", parts)
	if key == "oneOf" {
		said.text = r.say("exactly one of these is so: %s", said.text)
	}
	return []clause{said}
}

// conditional returns the clause for if, then and else, or none if then and else ask for nothing.
func (r conditionTexter) conditional(about string, f shown.Format, schema jsonval.Object) []clause {
	said := map[string]string{}
	for _, key := range []string{"if", "then", "else"} {
		value, has := schema[key]
		if !has || value == true {
			value = jsonval.Object{}
		}
		asked, isObject := value.(jsonval.Object)
		terms := r.terms(about, f, asked)
		if said[key] = r.all(terms).part(); !isObject || key == "if" && len(terms) == 0 {
			return []clause{r.unsaid(about)}
		}
	}
	then, otherwise := said["then"], said["else"]
	switch {
	case then == "" && otherwise == "":
		return nil
	case otherwise == "":
		return []clause{{r.say("if %s, then %s", said["if"], then), true}}
	case then == "":
		return []clause{{r.say("unless %s, %s", said["if"], otherwise), true}}
	}
	return []clause{{r.say("if %s, then %s, and otherwise %s", said["if"], then, otherwise), true}}
}

// withoutRepeats removes repeated clauses, such as those of unsaid.
func withoutRepeats(list []clause) (out []clause) {
	for _, one := range list {
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

var (
	bounds = map[string]string{"minimum": "%s is %s or more", "maximum": "%s is %s or less",
		"exclusiveMinimum": "%s is more than %s", "exclusiveMaximum": "%s is less than %s",
		"multipleOf": "%s is a multiple of %s"}
	// formats are the formats that people know. Others are shown only under "For operators".
	formats = map[string]string{"date": "%s is a date", "time": "%s is a time of day",
		"date-time": "%s is a date with a time of day", "email": "%s is an email address",
		"uri": "%s is an address such as https://example.com"}
	counts = map[string][2]string{"minLength": {"%s has at least %s", "character"},
		"maxLength": {"%s has at most %s", "character"}, "minItems": {"%s has at least %s", "item"},
		"maxItems": {"%s has at most %s", "item"}}
)

// values puts a keyword about a single value into words; ok is false if it has none.
func (r conditionTexter) values(about string, f shown.Format, key string, value any) (text string, ok bool) {
	if about == "" {
		return "", false
	}
	if format, is := bounds[key]; is {
		return r.say(format, about, f.Text(value, r.language)), true
	}
	if format, is := counts[key]; is {
		number, isNumber := value.(json.Number)
		n, err := number.Int64()
		return r.say(format[0], about, r.in("count", readable.Plural(int(n), format[1]))), isNumber && err == nil
	}
	switch key {
	case "const":
		return r.oneOf("%s is %s", "", about, f, []any{value})
	case "enum":
		return r.oneOf("%s is %s", "%s is one of %s", about, f, jsonval.AsList(value))
	case "format":
		format, is := formats[jsonval.AsText(value)]
		return r.say(format, about), is
	case "pattern":
		return r.pattern(about, jsonval.AsText(value))
	}
	return "", false
}

// oneOf says that something is one of several values; ok is false if there are none, or if one of them has parts.
func (r conditionTexter) oneOf(one, several, about string, f shown.Format, values []any) (text string, ok bool) {
	hasParts := func(v any) bool { return jsonval.AsList(v) != nil || jsonval.AsObject(v) != nil }
	switch {
	case len(values) == 0 || slices.ContainsFunc(values, hasParts):
		return "", false
	case len(values) == 1:
		return r.say(one, about, f.Text(values[0], r.language)), true
	}
	list := shown.Format{Items: &f}
	return r.say(several, about, list.Text(values, r.language)), true
}

// pattern puts a regular expression into words; ok is false unless it consists of plain words.
func (r conditionTexter) pattern(about, written string) (text string, ok bool) {
	written = strings.TrimPrefix(written, "(?i)")
	begins, ends := strings.HasPrefix(written, "^"), strings.HasSuffix(written, "$")
	words := jsonval.Map(strings.Split(strings.TrimSuffix(strings.TrimPrefix(written, "^"), "$"), "|"),
		func(s string) any { return s })
	for _, one := range words {
		if one == "" || regexp.QuoteMeta(one.(string)) != one || len(words) > 1 && (begins || ends) {
			return "", false
		}
	}
	forms := [2]string{"%s contains %s", "%s contains one of %s"}
	switch {
	case begins && ends:
		forms[0] = "%s is %s"
	case begins:
		forms[0] = "%s begins with %s"
	case ends:
		forms[0] = "%s ends with %s"
	}
	return r.oneOf(forms[0], forms[1], about, shown.Format{}, words)
}

// name returns the title of a member in quotation marks, and its format; ok is false if only operators see the member.
func (r conditionTexter) name(f shown.Format, name string) (about string, member shown.Format, ok bool) {
	member = f.At(jsonval.Path{name})
	return r.say("“%s”", member.TitleOr(name)), member, member.Display != shown.Hidden
}

func (r conditionTexter) member(f shown.Format, name string, schema any) []clause {
	about, member, ok := r.name(f, name)
	switch {
	case schema == true:
		return nil
	case !ok:
		return []clause{r.unsaid("")}
	case schema == false:
		return []clause{r.given(f, name, false)}
	}
	return r.terms(about, member, jsonval.AsObject(schema))
}

// given says that a member is there, or is not.
func (r conditionTexter) given(f shown.Format, name string, is bool) clause {
	about, _, ok := r.name(f, name)
	switch {
	case !ok:
		return r.unsaid("")
	case is:
		return clause{text: r.say("%s is given", about)}
	}
	return clause{text: r.say("%s is not given", about)}
}

// items says what holds for each item of a list, or for one.
func (r conditionTexter) items(about string, f shown.Format, each bool, schema jsonval.Object) clause {
	item := f.At(jsonval.Path{"0"})
	of, within := "an item of %s", "%s in an item of %s"
	if each {
		of, within = "each item of %s", "%s in each item of %s"
	}
	if about == "" || item.Display == shown.Hidden {
		return r.unsaid(about)
	}
	said := r.terms("", item, jsonval.Object{"properties": schema["properties"], "required": schema["required"]})
	rest := jsonval.WithoutKey(schema, "properties", "required")
	if len(said) > 0 {
		delete(rest, "type") // implied by the conditions on its members
	}
	plain := r.terms(r.say(of, about), item, rest)
	switch {
	case len(said) > 0 && len(plain) == 0:
		return clause{text: r.say(within, r.all(said).part(), about)}
	case len(said) == 0 && (len(plain) == 1 || each && len(plain) > 1):
		return r.all(plain)
	}
	return r.unsaid(about)
}

// not says that a schema does not fit.
func (r conditionTexter) not(about string, f shown.Format, schema jsonval.Object) clause {
	if names := jsonval.AsList(schema["required"]); len(schema) == 1 && len(names) == 1 {
		return r.given(f, jsonval.AsText(names[0]), false)
	}
	values := jsonval.AsList(schema["enum"])
	if value, is := schema["const"]; is {
		values = []any{value}
	}
	text, ok := r.oneOf("%s is not %s", "%s is none of %s", about, f, values)
	if ok && len(schema) == 1 && about != "" {
		return clause{text: text}
	}
	terms := r.terms(about, f, schema)
	if len(terms) == 0 {
		return r.unsaid(about)
	}
	return clause{text: r.say("this is not so: %s", r.all(terms).part()), compound: true}
}
