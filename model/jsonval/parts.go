package jsonval

import "fmt"

// A value takes many times the memory of its text: an object of one key takes about four hundred bytes, and as a row of
// an Idea with its message over a thousand. So the number of parts in a text from outside is limited by its length, and
// a denser text is refused before any of it is read.
const (
	freeParts    = 200_000
	bytesPerPart = 8
	// objectParts is the number of parts that each of the first objects of a text counts for, beside its keys.
	// laterObjectParts holds for the others: where objects are many they alone decide how much memory is taken.
	objectParts      = 8
	laterObjectParts = 24
)

// How many objects, or rows of a table, count for little.
const (
	// FirstObjectsOfBody holds for what strangers send.
	FirstObjectsOfBody = 12_500
	// FirstObjectsOfFile holds for files of whoever runs the program: a table of so many short rows must pass.
	FirstObjectsOfFile = 100_000
)

// MaxParts is how many parts a text of so many bytes may have: objects, arrays, keys and elements, or the cells of a
// table.
func MaxParts(bytes int) int { return freeParts + bytes/bytesPerPart }

// ObjectParts is the number of parts that the nth object counts for, beside its keys, where the first ones count for
// less.
func ObjectParts(n, first int) int {
	if n <= first {
		return objectParts
	}
	return laterObjectParts
}

// CheckParts refuses a text of JSON, or of JSON Lines, with more parts than MaxParts allows. first is FirstObjectsOfBody
// or FirstObjectsOfFile. It does not check the syntax.
func CheckParts(text []byte, first int) error {
	left, objects, quoted, escaped := MaxParts(len(text)), 0, false, false
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
			objects++
			left -= ObjectParts(objects, first)
		case !quoted && (b == ',' || b == ':' || b == '['):
			left--
		}
		if left < 0 {
			return TooManyObjects(len(text), first)
		}
	}
	return nil
}

// TooManyParts is the error for a text with too many parts for its size in bytes.
func TooManyParts(bytes int) error { return tooMany(bytes, "") }

// TooManyObjects is TooManyParts for a text whose objects count as ObjectParts says.
func TooManyObjects(bytes, first int) error {
	return tooMany(bytes, fmt.Sprintf(" (an object or a row counts as %d, after the first %d as %d)", objectParts, first,
		laterObjectParts))
}

func tooMany(bytes int, counted string) error {
	return fmt.Errorf("it has more than %d values and keys%s, which is the most for %d bytes: send it in several parts",
		MaxParts(bytes), counted, bytes)
}
