package modeltest

import (
	"encoding/json"

	"pgregory.net/rapid"

	"processidea/model/jsonval"
)

// DecodeJSON decodes a JSON text.
func DecodeJSON(t Fataler, text string) any {
	v, err := jsonval.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %s", text, err)
	}
	return v
}

// ErrorText returns an error's text; empty for nil.
func ErrorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// AnyJSON draws JSON values up to a depth. References, BlobHandles, odd keys and odd numbers are frequent among them.
func AnyJSON(maxDepth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kindCount := 6
		if maxDepth == 0 {
			kindCount = 4
		}
		switch drawInt(t, "kind", 0, kindCount-1) {
		case 0:
			return AnyText().Draw(t, "text")
		case 1:
			return json.Number(drawOneOf(t, "number", "0", "-0", "1.0", "7", "12345678901234567890", "1e5",
				"-2.5E-3"))
		case 2:
			return rapid.Bool().Draw(t, "bool")
		case 3:
			return nil
		case 4:
			list := make([]any, drawInt(t, "length", 0, 3))
			for i := range list {
				list[i] = AnyJSON(maxDepth-1).Draw(t, "element")
			}
			return list
		}
		m := jsonval.Object{}
		for range drawOneOf(t, "size", 0, 1, 1, 2, 3) {
			m[AnyText().Draw(t, "key")] = AnyJSON(maxDepth-1).Draw(t, "value")
		}
		return m
	})
}

// AnyText draws texts. Texts that mean something to the engine are frequent among them.
func AnyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "b.c", "x y", "†", "††", "†state.a", "††state.a", "†blob", "††blob",
			"†††blob", "_tool", "a/b~c%d",
			"\u2028", "\u00a0x", "\x00", "\"'\\", "0", "[0]", "a||b", "<&>", "é😀"}),
		rapid.String(),
	)
}

// MustDecodeJSON decodes a JSON text, and panics on an error.
func MustDecodeJSON(s string) any {
	v, err := jsonval.Decode([]byte(s))
	if err != nil {
		panic(err)
	}
	return v
}

// Fataler is the part that testing.TB and rapid.TB share and that these helpers need.
type Fataler interface {
	Fatalf(format string, args ...any)
}

func drawOneOf[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

func drawInt(t *rapid.T, label string, from, to int) int {
	return rapid.IntRange(from, to).Draw(t, label)
}
