package refexpr

import (
	"strings"

	"processidea/model/jsonval"
)

// EscapeDaggers escapes a value for a Call's parameter, so that no text in it is read as a Reference.
func EscapeDaggers(v any) any {
	if text := jsonval.AsText(v); strings.HasPrefix(text, Dagger) {
		return Dagger + text
	}
	return jsonval.MapChildValues(v, EscapeDaggers)
}
