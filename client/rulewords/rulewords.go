package rulewords

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

// Translate returns a text in the reader's language. kind says which texts a text is among.
type Translate func(kind, text string) string

// conditionWriter puts conditions into words of a reader's language.
type conditionWriter struct {
	language  shown.Language
	translate Translate
	// usesFallback is set when a clause only refers to the condition as it is written.
	usesFallback *bool
}

// ConditionTexts returns each part of a condition in words. isComplete is false if there are no words for some of it.
// translate may be nil for English.
func ConditionTexts(f shown.Format, condition any, l shown.Language,
	translate Translate) (texts []string, isComplete bool) {
	r := newConditionWriter(l, translate)
	clauses := r.clauses("", f, jsonval.AsObject(condition))
	return jsonval.Map(clauses, func(c clause) string { return c.text }), !*r.usesFallback
}

// ConditionText is ConditionTexts as one text; "" if the condition asks for nothing.
func ConditionText(f shown.Format, condition any, l shown.Language, translate Translate) string {
	r := newConditionWriter(l, translate)
	return r.joinAnd(r.clauses("", f, jsonval.AsObject(condition))).text
}

func newConditionWriter(l shown.Language, translate Translate) conditionWriter {
	if translate == nil {
		translate = func(_, text string) string { return text }
	}
	return conditionWriter{l, translate, new(bool)}
}

// clause is a condition in words. A compound clause gets parentheses within another one.
type clause struct {
	text       string
	isCompound bool
}

func (c clause) asOperand() string {
	if c.isCompound {
		return "(" + c.text + ")"
	}
	return c.text
}

// joinAnd joins clauses that must all hold.
func (r conditionWriter) joinAnd(list []clause) clause { return r.join("%s and %s", list) }

func (r conditionWriter) join(phrase string, list []clause) clause {
	switch len(list) {
	case 0:
		return clause{}
	case 1:
		return list[0]
	}
	text := list[0].asOperand()
	for _, one := range list[1:] {
		text = r.translatef(phrase, text, one.asOperand())
	}
	return clause{text, true}
}

// translatef translates a format and puts texts into it. In the catalogue, {1} stands for the first %s.
func (r conditionWriter) translatef(phrase string, texts ...string) string {
	var pairs []string
	for n, text := range texts {
		marker := fmt.Sprintf("{%d}", n+1)
		phrase, pairs = strings.Replace(phrase, "%s", marker, 1), append(pairs, marker, text)
	}
	return strings.NewReplacer(pairs...).Replace(r.translate("rule", phrase))
}

// fallbackClause returns the clause for a condition that has no words here.
func (r conditionWriter) fallbackClause(subject string) clause {
	*r.usesFallback = true
	if subject == "" {
		return clause{text: r.translatef("a condition is met that stands under “For operators”")}
	}
	return clause{text: r.translatef("%s meets a condition that stands under “For operators”", subject)}
}

// clauses returns the conditions of a schema in words, or none if it asks for nothing. subject names the value that the
// schema describes; "" stands for all parameters together.
func (r conditionWriter) clauses(subject string, f shown.Format, schema jsonval.Object) (list []clause) {
	properties := jsonval.AsObject(schema["properties"])
	for _, key := range jsonval.SortedKeys(schema) {
		value := schema[key]
		words, ok := r.keywordText(subject, f, key, value)
		if ok {
			list = append(list, clause{text: words})
			continue
		}
		switch key {
		case "title", "description", "$comment":
		case "type": // implied by the other conditions on the value
			if len(schema) == 1 && subject != "" {
				list = append(list, r.fallbackClause(subject))
			}
		case "required":
			for _, name := range jsonval.AsList(value) {
				if text := jsonval.AsText(name); properties[text] == nil {
					list = append(list, r.presenceClause(f, text, true))
				}
			}
		case "properties":
			for name, memberSchema := range jsonval.Sorted(properties) {
				list = append(list, r.memberClauses(f, name, memberSchema)...)
			}
		case "items", "contains":
			list = append(list, r.itemsClause(subject, f, key == "items", jsonval.AsObject(value)))
		case "allOf", "anyOf", "oneOf":
			list = append(list, r.combinedClauses(subject, f, key, jsonval.AsList(value))...)
		case "if":
			list = append(list, r.ifThenElseClauses(subject, f, schema)...)
		case "then", "else": // covered by "if"
		case "not":
			list = append(list, r.negationClause(subject, f, jsonval.AsObject(value)))
		default:
			list = append(list, r.fallbackClause(subject))
		}
	}
	return withoutRepeats(list)
}

// combinedClauses returns the clauses for allOf, anyOf or oneOf.
func (r conditionWriter) combinedClauses(subject string, f shown.Format, key string, schemas []any) (parts []clause) {
	for _, one := range schemas {
		parts = append(parts, r.joinAnd(r.clauses(subject, f, jsonval.AsObject(one))))
	}
	switch {
	case slices.Contains(parts, clause{}): // one schema asks for nothing
		return []clause{r.fallbackClause(subject)}
	case key == "allOf" || len(parts) < 2:
		return parts
	}
	joined := r.join("%s, or %s", parts)
	if key == "oneOf" {
		joined.text = r.translatef("exactly one of these is so: %s", joined.text)
	}
	return []clause{joined}
}

// ifThenElseClauses returns the clause for if, then and else, or none if then and else ask for nothing.
func (r conditionWriter) ifThenElseClauses(subject string, f shown.Format, schema jsonval.Object) []clause {
	textByKey := map[string]string{}
	for _, key := range []string{"if", "then", "else"} {
		value, hasKey := schema[key]
		if !hasKey || value == true {
			value = jsonval.Object{}
		}
		branch, isObject := value.(jsonval.Object)
		branchClauses := r.clauses(subject, f, branch)
		if textByKey[key] = r.joinAnd(branchClauses).asOperand(); !isObject || key == "if" && len(branchClauses) == 0 {
			return []clause{r.fallbackClause(subject)}
		}
	}
	thenText, elseText := textByKey["then"], textByKey["else"]
	switch {
	case thenText == "" && elseText == "":
		return nil
	case elseText == "":
		return []clause{{r.translatef("if %s, then %s", textByKey["if"], thenText), true}}
	case thenText == "":
		return []clause{{r.translatef("unless %s, %s", textByKey["if"], elseText), true}}
	}
	return []clause{{r.translatef("if %s, then %s, and otherwise %s", textByKey["if"], thenText, elseText), true}}
}

// withoutRepeats removes repeated clauses, such as those of unsaid.
func withoutRepeats(list []clause) (uniqueClauses []clause) {
	for _, one := range list {
		if !slices.Contains(uniqueClauses, one) {
			uniqueClauses = append(uniqueClauses, one)
		}
	}
	return uniqueClauses
}

var (
	boundPhraseByKeyword = map[string]string{"minimum": "%s is %s or more", "maximum": "%s is %s or less",
		"exclusiveMinimum": "%s is more than %s", "exclusiveMaximum": "%s is less than %s",
		"multipleOf": "%s is a multiple of %s"}
	// phraseByStringFormat are the formats that people know. Others are shown only under "For operators".
	phraseByStringFormat = map[string]string{"date": "%s is a date", "time": "%s is a time of day",
		"date-time": "%s is a date with a time of day", "email": "%s is an email address",
		"uri": "%s is an address such as https://example.com"}
	countPhraseByKeyword = map[string][2]string{"minLength": {"%s has at least %s", "character"},
		"maxLength": {"%s has at most %s", "character"}, "minItems": {"%s has at least %s", "item"},
		"maxItems": {"%s has at most %s", "item"}}
)

// keywordText puts a keyword about a single value into words; ok is false if it has none.
func (r conditionWriter) keywordText(subject string, f shown.Format, key string, value any) (text string, ok bool) {
	if subject == "" {
		return "", false
	}
	if phrase, found := boundPhraseByKeyword[key]; found {
		return r.translatef(phrase, subject, f.Text(value, r.language)), true
	}
	if phrase, found := countPhraseByKeyword[key]; found {
		number, isNumber := value.(json.Number)
		n, err := number.Int64()
		countText := r.translate("count", readable.Plural(int(n), phrase[1]))
		return r.translatef(phrase[0], subject, countText), isNumber && err == nil
	}
	switch key {
	case "const":
		return r.oneOfText("%s is %s", "", subject, f, []any{value})
	case "enum":
		return r.oneOfText("%s is %s", "%s is one of %s", subject, f, jsonval.AsList(value))
	case "format":
		phrase, found := phraseByStringFormat[jsonval.AsText(value)]
		return r.translatef(phrase, subject), found
	case "pattern":
		return r.patternText(subject, jsonval.AsText(value))
	}
	return "", false
}

// oneOfText says that something is one of several values; ok is false if there are none, or if one of them has parts.
func (r conditionWriter) oneOfText(singlePhrase, listPhrase, subject string, f shown.Format,
	values []any) (text string, ok bool) {
	hasParts := func(v any) bool { return jsonval.AsList(v) != nil || jsonval.AsObject(v) != nil }
	switch {
	case len(values) == 0 || slices.ContainsFunc(values, hasParts):
		return "", false
	case len(values) == 1:
		return r.translatef(singlePhrase, subject, f.Text(values[0], r.language)), true
	}
	listFormat := shown.Format{Items: &f}
	return r.translatef(listPhrase, subject, listFormat.Text(values, r.language)), true
}

// patternText puts a regular expression into words; ok is false unless it consists of plain words.
func (r conditionWriter) patternText(subject, regex string) (text string, ok bool) {
	regex = strings.TrimPrefix(regex, "(?i)")
	hasStart, hasEnd := strings.HasPrefix(regex, "^"), strings.HasSuffix(regex, "$")
	words := jsonval.Map(strings.Split(strings.TrimSuffix(strings.TrimPrefix(regex, "^"), "$"), "|"),
		func(s string) any { return s })
	for _, one := range words {
		if one == "" || regexp.QuoteMeta(one.(string)) != one || len(words) > 1 && (hasStart || hasEnd) {
			return "", false
		}
	}
	phrases := [2]string{"%s contains %s", "%s contains one of %s"}
	switch {
	case hasStart && hasEnd:
		phrases[0] = "%s is %s"
	case hasStart:
		phrases[0] = "%s begins with %s"
	case hasEnd:
		phrases[0] = "%s ends with %s"
	}
	return r.oneOfText(phrases[0], phrases[1], subject, shown.Format{}, words)
}

// memberName returns the title of a member in quotation marks, and its format; isShown is false if only operators see
// the member.
func (r conditionWriter) memberName(f shown.Format,
	name string) (quoted string, memberFormat shown.Format, isShown bool) {
	memberFormat = f.FormatAt(jsonval.Path{name})
	return r.translatef("“%s”", memberFormat.TitleOr(name)), memberFormat, memberFormat.Display != shown.Hidden
}

func (r conditionWriter) memberClauses(f shown.Format, name string, schema any) []clause {
	subject, memberFormat, isShown := r.memberName(f, name)
	switch {
	case schema == true:
		return nil
	case !isShown:
		return []clause{r.fallbackClause("")}
	case schema == false:
		return []clause{r.presenceClause(f, name, false)}
	}
	return r.clauses(subject, memberFormat, jsonval.AsObject(schema))
}

// presenceClause says that a member is there, or is not.
func (r conditionWriter) presenceClause(f shown.Format, name string, isPresent bool) clause {
	subject, _, isShown := r.memberName(f, name)
	switch {
	case !isShown:
		return r.fallbackClause("")
	case isPresent:
		return clause{text: r.translatef("%s is given", subject)}
	}
	return clause{text: r.translatef("%s is not given", subject)}
}

// itemsClause says what holds for each item of a list, or for one.
func (r conditionWriter) itemsClause(subject string, f shown.Format, isForEveryItem bool,
	schema jsonval.Object) clause {
	itemFormat := f.FormatAt(jsonval.Path{"0"})
	itemPhrase, memberPhrase := "an item of %s", "%s in an item of %s"
	if isForEveryItem {
		itemPhrase, memberPhrase = "each item of %s", "%s in each item of %s"
	}
	if subject == "" || itemFormat.Display == shown.Hidden {
		return r.fallbackClause(subject)
	}
	memberClauses := r.clauses("", itemFormat, jsonval.Object{"properties": schema["properties"],
		"required": schema["required"]})
	itemSchema := jsonval.WithoutKey(schema, "properties", "required")
	if len(memberClauses) > 0 {
		delete(itemSchema, "type") // implied by the conditions on its members
	}
	itemClauses := r.clauses(r.translatef(itemPhrase, subject), itemFormat, itemSchema)
	switch {
	case len(memberClauses) > 0 && len(itemClauses) == 0:
		return clause{text: r.translatef(memberPhrase, r.joinAnd(memberClauses).asOperand(), subject)}
	case len(memberClauses) == 0 && (len(itemClauses) == 1 || isForEveryItem && len(itemClauses) > 1):
		return r.joinAnd(itemClauses)
	}
	return r.fallbackClause(subject)
}

// negationClause says that a schema does not fit.
func (r conditionWriter) negationClause(subject string, f shown.Format, schema jsonval.Object) clause {
	if requiredNames := jsonval.AsList(schema["required"]); len(schema) == 1 && len(requiredNames) == 1 {
		return r.presenceClause(f, jsonval.AsText(requiredNames[0]), false)
	}
	values := jsonval.AsList(schema["enum"])
	if value, hasConst := schema["const"]; hasConst {
		values = []any{value}
	}
	text, ok := r.oneOfText("%s is not %s", "%s is none of %s", subject, f, values)
	if ok && len(schema) == 1 && subject != "" {
		return clause{text: text}
	}
	clauses := r.clauses(subject, f, schema)
	if len(clauses) == 0 {
		return r.fallbackClause(subject)
	}
	return clause{text: r.translatef("this is not so: %s", r.joinAnd(clauses).asOperand()), isCompound: true}
}
