package refexpr

import (
	"strings"

	"processidea/model/jsonval"
)

// Literal is a value as a Call's parameter holds it: what looks like a Reference is none.
func Literal(v any) any {
	if text := jsonval.AsText(v); strings.HasPrefix(text, Dagger) {
		return Dagger + text
	}
	return jsonval.WithHeld(v, Literal)
}
