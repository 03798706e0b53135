package jsonschema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

const maxErrorTexts = 3 // texts of one error; the rest is counted

// validationErrorText is the text of a validator's error, sorted, with at most maxErrorTexts parts: the library's own
// order is random.
func validationErrorText(err error) string {
	var se *jsonschema.SchemaError
	if errors.As(err, &se) && se.Err != nil {
		err = se.Err
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return compilerErrorText(strings.TrimPrefix(err.Error(), "jsonschema: "))
	}
	texts := causeTexts(ve, "")
	if len(texts) > maxErrorTexts {
		texts = append(texts[:maxErrorTexts], fmt.Sprintf("and %d more", len(texts)-maxErrorTexts))
	}
	return strings.Join(texts, "; ")
}

// compilerErrorText leaves out which part the compiler happened to see first: it walks maps in random order.
func compilerErrorText(text string) string {
	switch {
	case strings.HasSuffix(text, " not found"), strings.HasPrefix(text, "infinite loop"):
		return "a reference finds nothing in the schema, or only itself"
	case strings.HasSuffix(text, "have same canonical-uri"):
		return "two parts have the same $id or $anchor"
	}
	return text
}

// sortQuotedNames sorts the names in "additionalProperties 'b', 'a' not allowed", the one message that lists a map.
func sortQuotedNames(message string) string {
	const before, after = "additionalProperties '", "' not allowed"
	if !strings.HasPrefix(message, before) || !strings.HasSuffix(message, after) {
		return message
	}
	names := strings.Split(message[len(before):len(message)-len(after)], "', '") // a ' inside a name is escaped
	slices.Sort(names)
	return before + strings.Join(names, "', '") + after
}

// causeTexts returns the texts of the errors without causes of their own, sorted, each once. pointer is the place of
// the value.
func causeTexts(ve *jsonschema.ValidationError, pointer string) (texts []string) {
	for _, l := range leafCauses(ve) {
		text := strings.Replace(sortQuotedNames(l.Message), "valid must be", "the elements that fit must be", 1)
		texts = append(texts, strings.TrimPrefix(pointer+l.InstanceLocation+": ", ": ")+text)
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// leafCauses lists the errors that have no causes of their own.
func leafCauses(ve *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(ve.Causes) == 0 {
		return []*jsonschema.ValidationError{ve}
	}
	var out []*jsonschema.ValidationError
	for _, c := range ve.Causes {
		out = append(out, leafCauses(c)...)
	}
	return out
}
