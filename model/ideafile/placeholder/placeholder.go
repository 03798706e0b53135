package placeholder

import (
	"regexp"
	"strings"

	"processidea/model/jsonval"
)

// Part is a piece of a template: literal Text, or, where Name is not empty,
// the place of a value.
type Part struct {
	Text string
	Name string
}

// namePattern is letters, digits, '_', '-' and dots. Letters of every script count,
// as parameters may be named in any language.
const namePattern = `[\p{L}\p{Nd}_][\p{L}\p{Nd}\p{M}_.-]*`

var placeholderPattern = regexp.MustCompile(`\{\{(` + namePattern + `)\}\}|\{(` + namePattern + `)\}`)

// Split cuts a template into its parts. A placeholder is {name}; {{name}} is
// the literal {name}; every other brace is literal.
func Split(template string) []Part {
	var parts []Part
	var text strings.Builder
	from := 0
	endText := func(to int) {
		text.WriteString(template[from:to])
		if text.Len() > 0 {
			parts = append(parts, Part{Text: text.String()})
			text.Reset()
		}
	}
	for _, at := range placeholderPattern.FindAllStringSubmatchIndex(template, -1) {
		if doubled := at[2] >= 0; doubled {
			text.WriteString(template[from:at[0]] + template[at[0]+1:at[1]-1])
		} else {
			endText(at[0])
			parts = append(parts, Part{Name: template[at[4]:at[5]]})
		}
		from = at[1]
	}
	endText(len(template))
	return parts
}

// Find looks a name up in values: the key of that very name, else the path
// that its dots make through objects and lists ("user.name", "items.0.id").
func Find(values jsonval.Object, name string) (any, bool) {
	if v, ok := values[name]; ok {
		return v, true
	}
	return jsonval.ValueAt(values, strings.Split(name, "."))
}

// Root is the top-level key of values that a name reads.
func Root(values jsonval.Object, name string) string {
	if _, ok := values[name]; ok {
		return name
	}
	root, _, _ := strings.Cut(name, ".")
	return root
}

// Text is how a value reads inside text: a string as it is, null as nothing, a
// number as it was written, a list or an object as compact JSON.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return jsonval.EncodeToString(v)
}
