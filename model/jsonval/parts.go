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
	maxNodesOfShortText int // the limit of a short text
	cheapRowCount       int // how many rows count as nodesPerObject
}

var (
	// UntrustedNodeLimit limits what strangers send.
	UntrustedNodeLimit = NodeLimit{alwaysAllowedNodes, 12_500}
	// TrustedTableNodeLimit limits the rows of whoever runs the program: 100,000 short ones must pass.
	TrustedTableNodeLimit = NodeLimit{1_500_000, 100_000}
)

// MaxNodes is how many parts a text of so many bytes may have.
func (l NodeLimit) MaxNodes(byteCount int) int {
	return max(l.maxNodesOfShortText, alwaysAllowedNodes+byteCount/bytesPerNode)
}

// NodesOfRow is the number of parts that the nth row, from 1, counts for, beside its keys.
func (l NodeLimit) NodesOfRow(n int) int {
	if n <= l.cheapRowCount {
		return nodesPerObject
	}
	return nodesPerLaterRow
}

// Check refuses a text of JSON, or of JSON Lines, with too many parts. It does not check the syntax.
func (l NodeLimit) Check(text []byte) error {
	nodesLeft, rowCount, isInString, isEscaped := l.MaxNodes(len(text)), 0, false, false
	lastSyntaxByte := byte(0) // the last byte outside texts and white space
	for _, b := range text {
		switch {
		case isEscaped:
			isEscaped = false
		case isInString && b == '\\':
			isEscaped = true
		case b == '"':
			isInString = !isInString
		case b == '\n': // a JSON string never contains a raw line break
			isInString = false
		case !isInString && b == '{' && lastSyntaxByte == ':':
			nodesLeft -= nodesPerObject
		case !isInString && b == '{':
			rowCount++
			nodesLeft -= l.NodesOfRow(rowCount)
		case !isInString && (b == ',' || b == ':' || b == '['):
			nodesLeft--
		}
		if b > ' ' && !isInString {
			lastSyntaxByte = b
		}
		if nodesLeft < 0 {
			return l.ExceededError(len(text))
		}
	}
	return nil
}

// ExceededError is the error for a text with too many parts for its size in bytes.
func (l NodeLimit) ExceededError(byteCount int) error {
	return fmt.Errorf("it has more than %d values and keys, of which an object counts as %d, and a row after the "+
		"first %d as %d; that is the most for %d bytes: send it in several parts", l.MaxNodes(byteCount),
		nodesPerObject,
		l.cheapRowCount, nodesPerLaterRow, byteCount)
}
