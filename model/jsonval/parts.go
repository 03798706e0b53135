package jsonval

import "fmt"

// A value takes many times the memory of its text: an object of one key takes about four hundred bytes, and as a row of
// an Idea with its message over a thousand. So the number of parts in a text from outside is limited by its length, and
// a denser text is refused before any of it is read.
const (
	alwaysAllowedNodes = 200_000
	bytesPerNode       = 8
	// nodesPerObject is the number of parts that an object counts for, beside its keys. nodesPerLaterRow holds for
	// rows, the objects that no key names, after the first ones: where rows are many they alone decide how much memory
	// is taken.
	nodesPerObject   = 8
	nodesPerLaterRow = 24
)

// NodeLimit limits the parts of a text: objects, arrays, keys and elements, or the cells of a table.
type NodeLimit struct {
	minNodes      int // the limit of a short text
	firstRowCount int // how many rows count as nodesPerObject
}

var (
	// ReceivedNodeLimit limits what strangers send.
	ReceivedNodeLimit = NodeLimit{alwaysAllowedNodes, 12_500}
	// OwnTableNodeLimit limits the rows of whoever runs the program: 100,000 short ones must pass.
	OwnTableNodeLimit = NodeLimit{1_500_000, 100_000}
)

// MaxNodes is how many parts a text of so many bytes may have.
func (l NodeLimit) MaxNodes(bytes int) int {
	return max(l.minNodes, alwaysAllowedNodes+bytes/bytesPerNode)
}

// NodesOfRow is the number of parts that the nth row, from 1, counts for, beside its keys.
func (l NodeLimit) NodesOfRow(n int) int {
	if n <= l.firstRowCount {
		return nodesPerObject
	}
	return nodesPerLaterRow
}

// Check refuses a text of JSON, or of JSON Lines, with too many parts. It does not check the syntax.
func (l NodeLimit) Check(text []byte) error {
	nodesLeft, rowCount, isQuoted, isEscaped := l.MaxNodes(len(text)), 0, false, false
	lastByte := byte(0) // the last byte outside texts and white space
	for _, b := range text {
		switch {
		case isEscaped:
			isEscaped = false
		case isQuoted && b == '\\':
			isEscaped = true
		case b == '"':
			isQuoted = !isQuoted
		case b == '\n': // a JSON string never contains a raw line break
			isQuoted = false
		case !isQuoted && b == '{' && lastByte == ':':
			nodesLeft -= nodesPerObject
		case !isQuoted && b == '{':
			rowCount++
			nodesLeft -= l.NodesOfRow(rowCount)
		case !isQuoted && (b == ',' || b == ':' || b == '['):
			nodesLeft--
		}
		if b > ' ' && !isQuoted {
			lastByte = b
		}
		if nodesLeft < 0 {
			return l.ExceededError(len(text))
		}
	}
	return nil
}

// ExceededError is the error for a text with too many parts for its size in bytes.
func (l NodeLimit) ExceededError(bytes int) error {
	return fmt.Errorf("it has more than %d values and keys, of which an object counts as %d, and a row after the "+
		"first %d as %d; that is the most for %d bytes: send it in several parts", l.MaxNodes(bytes), nodesPerObject,
		l.firstRowCount, nodesPerLaterRow, bytes)
}
