package jsonval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Encode gives the canonical bytes of a value: keys sorted, no white space, no escapes but those JSON demands, numbers
// as they were written. Digests are over these bytes.
func Encode(v any) []byte { return AppendJSON(nil, v) }

// EncodeToString is Encode as a string.
func EncodeToString(v any) string { return string(Encode(v)) }

// Digest returns the SHA-256 of a text, in hex.
func Digest[T string | []byte](text T) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// AppendJSON appends the bytes of Encode to b. It makes room for all of them in one step: States are megabytes, and a
// slice that grows step by step takes several times as much memory.
func AppendJSON(b []byte, v any) []byte { return encode(slices.Grow(b, estimateEncodedSize(v)), v) }

// EncodeToPooledBuffer calls use with the bytes of Encode, in a buffer from a pool. use must not keep them: the next
// caller overwrites the buffer.
func EncodeToPooledBuffer(v any, use func([]byte)) {
	buffer := bufferPool.Get().(*[]byte)
	*buffer = AppendJSON((*buffer)[:0], v)
	use(*buffer)
	if cap(*buffer) <= maxPooledBytes {
		bufferPool.Put(buffer)
	}
}

// maxPooledBytes is the capacity in bytes up to which a buffer is kept for the next caller. Larger buffers are rare,
// and would occupy memory for long.
const maxPooledBytes = 4 << 20

var bufferPool = sync.Pool{New: func() any { return new([]byte) }}

// estimateEncodedSize estimates how many bytes a value takes: enough, unless more than one character in eight is
// escaped.
func estimateEncodedSize(v any) int {
	n := 8 // a literal, or the brackets
	switch v := v.(type) {
	case Object:
		//workflowcheck:ignore -- a sum
		for k, e := range v {
			n += estimateEncodedSize(k) + estimateEncodedSize(e)
		}
	case []any:
		for _, e := range v {
			n += estimateEncodedSize(e)
		}
	case OrderedObject:
		for _, f := range v {
			n += estimateEncodedSize(f.Key) + estimateEncodedSize(f.Value)
		}
	case string:
		n += len(v) + len(v)/8
	case json.Number:
		n += len(v)
	}
	return n
}

func encode(b []byte, v any) []byte {
	switch v := v.(type) {
	case Object:
		b = append(b, '{')
		for i, k := range SortedKeys(v) {
			b = encodeField(b, i, k, v[k])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = encode(b, e)
		}
		return append(b, ']')
	case OrderedObject:
		b = append(b, '{')
		for i, f := range v {
			b = encodeField(b, i, f.Key, f.Value)
		}
		return append(b, '}')
	case string:
		return encodeString(b, v)
	case json.Number:
		return append(b, v.String()...)
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return encode(b, ToJSONValue(v))
}

// encodeField appends the nth key of an object and its value.
func encodeField(b []byte, n int, key string, value any) []byte {
	if n > 0 {
		b = append(b, ',')
	}
	return encode(append(encodeString(b, key), ':'), value)
}

// OrderedObject is an object whose keys are encoded in the order given, for schemas that an LLM follows key by key.
type OrderedObject []OrderedField

// OrderedField is one key of an OrderedObject, with its value.
type OrderedField struct {
	Key   string
	Value any
}

// Value returns the value of a key; nil if there is none.
func (o OrderedObject) Value(key string) any {
	for _, f := range o {
		if f.Key == key {
			return f.Value
		}
	}
	return nil
}

// Append gives the object with one more key at its end, as append does: it may share memory with the receiver.
func (o OrderedObject) Append(key string, value any) OrderedObject {
	return append(o, OrderedField{key, value})
}

// MarshalJSON gives the bytes of Encode.
func (o OrderedObject) MarshalJSON() ([]byte, error) { return Encode(o), nil }

const hexDigits = "0123456789abcdef"

// encodeString escapes the quote, the backslash and control characters, and nothing else: encoding/json would also
// escape U+2028 and U+2029, which no other language's plain encoder does.
func encodeString(b []byte, s string) []byte {
	b = append(b, '"')
	firstPending := 0 // s[:from] has been appended
	for i := 0; i < len(s); {
		if nextEightNeedNoEscape(s[i:]) {
			i += 8
			continue
		}
		for end := min(i+8, len(s)); i < end; {
			c := s[i]
			switch {
			case plainASCII[c]:
				i++
			case c < utf8.RuneSelf:
				b = appendEscapedByte(append(b, s[firstPending:i]...), c)
				i++
				firstPending = i
			default:
				r, n := utf8.DecodeRuneInString(s[i:])
				if r == utf8.RuneError && n == 1 { // not UTF-8
					b = utf8.AppendRune(append(b, s[firstPending:i]...), r)
					firstPending = i + 1
				}
				i += n
			}
		}
	}
	return append(append(b, s[firstPending:]...), '"')
}

// plainASCII is true for every ASCII character that needs no escape in a string.
var plainASCII = func() (table [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// nextEightNeedNoEscape reports whether the first eight bytes of s are plainASCII. States hold megabytes of such text,
// and checking eight bytes at a time takes half the time. In below, the highest bit of a byte is set if the byte is
// less than a space; in quote or backslash, if it is that character; in word, if it is not ASCII.
func nextEightNeedNoEscape(s string) bool {
	if len(s) < 8 {
		return false
	}
	const everyByte = 0x0101010101010101
	word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	below, quote, backslash := word-everyByte*' ', (word^everyByte*'"')-everyByte, (word^everyByte*'\\')-everyByte
	return (word|below|quote|backslash)&(everyByte*utf8.RuneSelf) == 0
}

func appendEscapedByte(b []byte, c byte) []byte {
	const short, letters = "\"\\\n\r\t\b\f", `"\nrtbf` // characters with a short escape, and its letter
	if index := strings.IndexByte(short, c); index >= 0 {
		return append(b, '\\', letters[index])
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// Equal reports whether two values have the same canonical bytes.
func Equal(a, b any) bool { return bytes.Equal(Encode(a), Encode(b)) }

// EqualNumerically is Equal, except that numbers are compared by value, however they are written: 1.1, 1.10 and 11e-1.
func EqualNumerically(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		if !ok || a == b {
			return ok
		}
		x, isX := new(big.Rat).SetString(a.String())
		y, isY := new(big.Rat).SetString(b.String())
		return isX && isY && x.Cmp(y) == 0
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, EqualNumerically)
	case Object:
		b, ok := b.(Object)
		return ok && maps.EqualFunc(a, b, EqualNumerically)
	}
	return Equal(a, b)
}
