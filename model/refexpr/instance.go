package refexpr

import "strings"

// scopeReference reads a place in `_scopes`, with or without a dagger in front.
func ParseScope(place string) (Reference, error) {
	return ParseReference(Dagger + strings.TrimPrefix(place, Dagger))
}
