package jsonval

import "fmt"

// A value takes many times the memory of its text: an object of one key takes about four hundred bytes. So the number
// of parts in a text from outside is limited by its length, and a denser text is refused before any of it is read.
const (
	freeParts    = 200_000
	bytesPerPart = 8
	// ObjectParts is the number of parts that an object counts for, beside its keys.
	ObjectParts = 8
)

// MaxParts is how many parts a text of so many bytes may have: objects, arrays, keys and elements, or the cells of a
// table.
func MaxParts(bytes int) int { return freeParts + bytes/bytesPerPart }

// CheckParts refuses a text of JSON, or of JSON Lines, with more parts than MaxParts allows. It does not check the
// syntax.
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
		case b == '\n': // a JSON string never contains a raw line break
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

// TooManyParts is the error for a text with too many parts for its size in bytes.
func TooManyParts(bytes int) error {
	return fmt.Errorf("it has more than %d values and keys, which is the most for %d bytes: send it in several parts",
		MaxParts(bytes), bytes)
}
