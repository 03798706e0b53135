package openapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"processidea/internal/yamlvalue"
	"processidea/model/jsonval"
)

// The library that reads documents decodes numbers into float64, and leaves out a null where a value may stand: an id
// of sixteen digits in an enum becomes another one, and `const: null` nothing. So a value that would not survive is
// given to it in a text that begins with a mark, and taken out of it where a schema is made of what the library read.
// A bound, which the library wants to be a number, stands a second time beside itself.
const (
	mark      = "\x00processidea:"
	markedKey = "x-processidea-exact-"
)

var (
	bounds = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
	// free are the keys under which any value may stand.
	free = []string{"enum", "const", "default", "example", "examples"}
)

// marked returns the document with its marks, as JSON. unread says why it has none: it is no JSON, or no YAML that
// stands for JSON, and is left to the library as it is.
func marked(data []byte) (_ []byte, unread string) {
	v, err := jsonval.DecodeWithBounds(bytes.TrimPrefix(data, []byte("\uFEFF")),
		jsonval.DecodeLimits{MaxDepth: 200, MaxNumberLen: 400})
	if err != nil {
		of, problem := yamlvalue.Decode(data)
		if problem != nil {
			return data, problem.Message
		}
		v = of
	}
	return jsonval.Encode(withMarks(v, false)), ""
}

// withMarks marks what stands in v; isFree is whether the library takes any value there.
func withMarks(v any, isFree bool) any {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range jsonval.SortedKeys(v) {
			number, isNumber := v[key].(json.Number)
			switch {
			case isNumber && !isFree && slices.Contains(bounds, key):
				if !survives(number) {
					v[markedKey+key] = number.String()
				}
			case key == "const" && v[key] == nil:
				v[key] = mark + "null"
			default:
				v[key] = withMarks(v[key], isFree || slices.Contains(free, key))
			}
		}
	case []any:
		for n := range v {
			v[n] = withMarks(v[n], isFree)
		}
	case json.Number:
		if isFree && !survives(v) {
			return mark + v.String()
		}
	}
	return v
}

// exactDigits is how many digits of a number a float64 holds for sure.
const exactDigits = 15

// survives reports whether a number has the same value when it has been a float64.
func survives(n json.Number) bool {
	digits, _, _ := strings.Cut(strings.ToLower(n.String()), "e")
	digits = strings.TrimLeft(strings.ReplaceAll(strings.TrimPrefix(digits, "-"), ".", ""), "0")
	_, err := n.Float64()
	return err == nil && len(digits) <= exactDigits
}

// decodeMarked reads what the library wrote, and takes the marks away.
func decodeMarked(text []byte) (any, error) {
	v, err := jsonval.Decode(text)
	return withoutMarks(v), err
}

func withoutMarks(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range jsonval.SortedKeys(v) {
			if bound, ok := strings.CutPrefix(key, markedKey); ok {
				if text, ok := v[key].(string); ok {
					v[bound] = json.Number(text)
				}
				delete(v, key)
				continue
			}
			v[key] = withoutMarks(v[key])
		}
	case []any:
		for n := range v {
			v[n] = withoutMarks(v[n])
		}
	case string:
		if text, ok := strings.CutPrefix(v, mark); ok {
			if plain, err := jsonval.Decode([]byte(text)); err == nil {
				return plain
			}
		}
	}
	return v
}
