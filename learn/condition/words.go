package condition

import (
	"fmt"
	"strings"

	"processidea/model/jsonval"
)

// describeHypothesis returns a hypothesis as a sentence that holds in the class.
func (s Search) describeHypothesis(h hypothesis, classIndexes, otherIndexes []int) string {
	trueConstraints, _ := h.constraints(classIndexes, otherIndexes, true)
	parts := jsonval.Map(trueConstraints, s.describeConstraint)
	if h.testsHoldInClass {
		return strings.Join(parts, " and ")
	}
	return strings.Join(parts, " or ")
}

func (s Search) describeConstraint(z fieldConstraint) string {
	placeName := z.path.String()
	if s.NameOfPlace != nil {
		placeName = s.NameOfPlace(z.path)
	}
	if z.mustBeAbsent {
		return placeName + " is not there"
	}
	if len(z.valueSchema) == 0 {
		return placeName + " is there"
	}
	text := ""
	for k, v := range jsonval.Sorted(z.valueSchema) {
		if values, ok := v.([]any); ok && k == "enum" {
			text = placeName + " is " + joinWithOr(values)
		} else if format, ok := formatByKeyword[k]; ok {
			text = fmt.Sprintf(format, placeName, jsonval.Encode(v))
		}
	}
	if _, allowsNull := z.valueSchema["type"].([]any); allowsNull {
		text += " or null"
	}
	if z.allowsAbsent {
		text += " or not there"
	}
	return text
}

// formatByKeyword describe in words what a keyword of JSON Schema requires of a place.
var formatByKeyword = map[string]string{
	"minimum": "%s ≥ %s", "maximum": "%s ≤ %s", "exclusiveMinimum": "%s > %s",
	"minItems": "%s has %s elements or more", "maxItems": "%s has at most %s elements",
}

// joinWithOr lists values as alternatives.
func joinWithOr(values []any) string {
	valueTexts := jsonval.Map(values, jsonval.EncodeToString)
	if lastIndex := len(valueTexts) - 1; lastIndex > 0 {
		return strings.Join(valueTexts[:lastIndex], ", ") + " or " + valueTexts[lastIndex]
	}
	return strings.Join(valueTexts, "")
}
