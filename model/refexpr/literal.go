package refexpr

import (
	"strings"

	"processidea/model/jsonval"
)

// Literal escapes a value for a Call's parameter, so that no text in it is read as a Reference.
func Literal(v any) any {
	if text := jsonval.AsText(v); strings.HasPrefix(text, Dagger) {
		return Dagger + text
	}
	return jsonval.WithHeldValues(v, Literal)
}
