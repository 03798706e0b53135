package jsonval

import "fmt"

// A value takes many times the memory of its text: an object of one key takes about four hundred bytes, and as a row of
// an Idea with its message over a thousand. So the number of parts in a text from outside is limited by its length, and
// a denser text is refused before any of it is read.
const (
	freeParts    = 200_000
	bytesPerPart = 8
	// objectParts is the number of parts that an object counts for, beside its keys. laterRowParts holds for rows,
	// the objects that no key names, after the first ones: where rows are many they alone decide how much memory is
	// taken.
	objectParts   = 8
	laterRowParts = 24
)

// PartsLimit limits the parts of a text: objects, arrays, keys and elements, or the cells of a table.
type PartsLimit struct {
	minimum   int // the limit of a short text
	firstRows int // how many rows count as objectParts
}

var (
	// SentParts limits what strangers send.
	SentParts = PartsLimit{freeParts, 12_500}
	// OwnTableParts limits the rows of whoever runs the program: 100,000 short ones must pass.
	OwnTableParts = PartsLimit{1_500_000, 100_000}
)

// Max is how many parts a text of so many bytes may have.
func (l PartsLimit) Max(bytes int) int { return max(l.minimum, freeParts+bytes/bytesPerPart) }

// CountRow is the number of parts that the nth row, from 1, counts for, beside its keys.
func (l PartsLimit) CountRow(n int) int {
	if n <= l.firstRows {
		return objectParts
	}
	return laterRowParts
}

// Check refuses a text of JSON, or of JSON Lines, with too many parts. It does not check the syntax.
func (l PartsLimit) Check(text []byte) error {
	left, rows, quoted, escaped := l.Max(len(text)), 0, false, false
	before := byte(0) // the last byte outside texts and white space
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
		case !quoted && b == '{' && before == ':':
			left -= objectParts
		case !quoted && b == '{':
			rows++
			left -= l.CountRow(rows)
		case !quoted && (b == ',' || b == ':' || b == '['):
			left--
		}
		if b > ' ' && !quoted {
			before = b
		}
		if left < 0 {
			return l.ExceededError(len(text))
		}
	}
	return nil
}

// ExceededError is the error for a text with too many parts for its size in bytes.
func (l PartsLimit) ExceededError(bytes int) error {
	return fmt.Errorf("it has more than %d values and keys, of which an object counts as %d, and a row after the "+
		"first %d as %d; that is the most for %d bytes: send it in several parts", l.Max(bytes), objectParts,
		l.firstRows, laterRowParts, bytes)
}
