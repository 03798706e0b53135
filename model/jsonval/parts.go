package jsonval

import "fmt"

// A value takes many times the memory of its text: an object of one key about four hundred bytes. So a text from
// outside may have so many parts for its length, and what is denser than that is refused before anything of it is
// read.
const (
	freeParts    = 200_000
	bytesPerPart = 8
	// ObjectParts is what an object counts as, beside its keys.
	ObjectParts = 8
)

// MaxParts is how many parts a text of so many bytes may have: objects, arrays, keys and elements, or the cells of a
// table.
func MaxParts(bytes int) int { return freeParts + bytes/bytesPerPart }

// CheckParts refuses a text of JSON, or of JSON Lines, that has more parts than MaxParts allows. It says nothing of
// the text's form.
func CheckParts(text []byte) error {
	left, quoted, escaped := MaxParts(len(text)), false, false
	for _, b := range text {
		switch {
		case escaped:
			escaped = false
		case quoted && b == '\\':
			escaped = true
		case b == '"':
			quoted = !quoted
		case b == '\n': // no text of JSON holds one
			quoted = false
		case !quoted && b == '{':
			left -= ObjectParts
		case !quoted && (b == ',' || b == ':' || b == '['):
			left--
		}
		if left < 0 {
			return TooManyParts(len(text))
		}
	}
	return nil
}

// TooManyParts is the error of a text of so many bytes that has more parts than it may.
func TooManyParts(bytes int) error {
	return fmt.Errorf("it has more than %d values and keys, which is the most for %d bytes: send it in several parts",
		MaxParts(bytes), bytes)
}
