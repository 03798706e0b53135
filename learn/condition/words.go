package condition

import (
	"fmt"
	"strings"

	"processidea/model/jsonval"
)

// describe returns a hypothesis as a sentence that holds in the class.
func (s Search) describe(h hypothesis, class, others []int) string {
	own, excluded := h.sides(class, others)
	var parts []string
	for _, t := range h.tests {
		alone := h.excludedBy(t, excluded)
		z := t.zone(own, alone, true, true)
		if !h.inClass {
			z = t.zone(alone, own, false, true)
		}
		parts = append(parts, s.describeZone(z))
	}
	if h.inClass {
		return strings.Join(parts, " and ")
	}
	return strings.Join(parts, " or ")
}

func (s Search) describeZone(z zone) string {
	name := z.path.String()
	if s.NameOf != nil {
		name = s.NameOf(z.path)
	}
	if z.isAbsent {
		return name + " is not there"
	}
	if len(z.leaf) == 0 {
		return name + " is there"
	}
	text := ""
	for _, k := range jsonval.SortedKeys(z.leaf) {
		value := string(jsonval.Encode(z.leaf[k]))
		switch k {
		case "enum":
			text = name + " is " + oneOf(z.leaf[k].([]any))
		case "minimum":
			text = name + " ≥ " + value
		case "maximum":
			text = name + " ≤ " + value
		case "exclusiveMinimum":
			text = name + " > " + value
		case "minItems":
			text = fmt.Sprintf("%s has %s elements or more", name, value)
		case "maxItems":
			text = fmt.Sprintf("%s has at most %s elements", name, value)
		}
	}
	if _, several := z.leaf["type"].([]any); several {
		text += " or null"
	}
	if z.allowAbsent {
		text += " or not there"
	}
	return text
}

// oneOf lists values as alternatives.
func oneOf(values []any) string {
	var names []string
	for _, v := range values {
		names = append(names, string(jsonval.Encode(v)))
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " or " + names[last]
	}
	return strings.Join(names, "")
}
