package refexpr

import "strings"

// Literal is a value as a Call's parameter holds it: what looks like a Reference is none.
func Literal(v any) any {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, Dagger) {
			return Dagger + v
		}
	case []any:
		out := make([]any, len(v))
		for n := range v {
			out[n] = Literal(v[n])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		//workflowcheck:ignore -- a map again
		for k := range v {
			out[k] = Literal(v[k])
		}
		return out
	}
	return v
}
