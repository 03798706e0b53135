package jsonval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Bounds bound what DecodeWithin reads.
type Bounds struct {
	Depth     int  // of nested objects and arrays; 0: as deep as the stack allows
	NumberLen int  // characters of one number; 0: numbers may be of any length and size
	Float64   bool // integers too must be in the range of a float64
}

// decodeBounds are those of Decode: far above what people write and far below what hurts.
var decodeBounds = Bounds{Depth: 128, NumberLen: 1000}

const maxExponent = 308 // of a number's power of ten, as for float64

// Decode reads one JSON value and refuses what encoding/json lets pass: duplicate keys, bad UTF-8, numbers out of all
// proportion, deep nesting, text behind the value. Numbers stay as they were written (json.Number).
func Decode(data []byte) (any, error) { return DecodeWithin(data, decodeBounds) }

// DecodeWithin is Decode with other bounds.
func DecodeWithin(data []byte, bounds Bounds) (any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("model: decode JSON: not valid UTF-8")
	}
	d := &decoder{Decoder: json.NewDecoder(bytes.NewReader(data)), bounds: bounds}
	d.UseNumber()
	v, err := d.value()
	if err != nil {
		return nil, fmt.Errorf("model: decode JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("model: decode JSON: text after the value, at byte %d", d.InputOffset())
	}
	return v, nil
}

// DecodeObject is Decode for a value that must be an object.
func DecodeObject(data []byte) (map[string]any, error) {
	v, err := Decode(data)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("model: decode JSON: want an object, got %s", TypeOf(v))
	}
	return m, nil
}

type decoder struct {
	*json.Decoder
	bounds Bounds
	path   []step // of the value that is being read
}

// step is a key, or, where index is not negative, a place in a list. Paths are written out only for errors: large values
// have a path for every element.
type step struct {
	key   string
	index int
}

// fail is an error at the value that is being read.
func (d *decoder) fail(err error) error {
	path := "$"
	for _, s := range d.path {
		if s.index >= 0 {
			path += "[" + strconv.Itoa(s.index) + "]"
		} else {
			path = JSONPathKey(path, s.key)
		}
	}
	return fmt.Errorf("%s: %w", path, err)
}

func (d *decoder) value() (any, error) {
	t, err := d.token()
	if err != nil {
		return nil, err
	}
	if limit := d.bounds.Depth; limit > 0 && len(d.path) > limit {
		return nil, d.fail(fmt.Errorf("nested deeper than %d", limit))
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return d.object()
		}
		return d.array()
	case json.Number:
		if err := d.bounds.checkNumber(t); err != nil {
			return nil, d.fail(err)
		}
	}
	return t, nil
}

// token is Token with truncation told apart from a clean end, which encoding/json does not do.
func (d *decoder) token() (json.Token, error) {
	t, err := d.Token()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the text ends at byte %d, inside the value", d.InputOffset())
	}
	return t, err
}

func (d *decoder) object() (any, error) {
	m := map[string]any{}
	at := len(d.path)
	for d.More() {
		t, err := d.token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // the decoder has made sure
		d.path = append(d.path[:at], step{key, -1})
		if _, twice := m[key]; twice {
			return nil, d.fail(errors.New("the key stands twice"))
		}
		if m[key], err = d.value(); err != nil {
			return nil, err
		}
	}
	d.path = d.path[:at]
	_, err := d.token()
	return m, err
}

func (d *decoder) array() (any, error) {
	a := []any{}
	at := len(d.path)
	for d.More() {
		d.path = append(d.path[:at], step{index: len(a)})
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	d.path = d.path[:at]
	_, err := d.token()
	return a, err
}

// CheckNumbers returns what is wrong with a number of a value, at any depth. Depth does not count.
func (b Bounds) CheckNumbers(v any) error {
	switch v := v.(type) {
	case json.Number:
		return b.checkNumber(v)
	case []any:
		for _, e := range v {
			if err := b.CheckNumbers(e); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, k := range SortedKeys(v) {
			if err := b.CheckNumbers(v[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkNumber refuses numbers that arithmetic with big rationals would choke on, such as 1e10000000.
func (b Bounds) checkNumber(n json.Number) error {
	s := n.String()
	if b.NumberLen == 0 {
		return nil
	}
	if len(s) > b.NumberLen {
		return fmt.Errorf("a number of %d characters", len(s))
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if e, err := strconv.Atoi(s[i+1:]); err != nil || e > maxExponent || e < -maxExponent {
			return fmt.Errorf("the number %.40s is out of range", s)
		}
	}
	if f, err := n.Float64(); (err == nil && !math.IsInf(f, 0)) || (!b.Float64 && !strings.ContainsAny(s, "eE.")) {
		return nil
	}
	return fmt.Errorf("the number %.40s is out of range", s)
}

// Encode gives the canonical bytes of a value: keys sorted, no white space, no escapes but those JSON demands, numbers
// as they were written. Digests are over these bytes.
func Encode(v any) []byte { return AppendJSON(nil, v) }

// AppendJSON appends the bytes of Encode. Room is made for them at once: States are megabytes, and to grow by and by takes
// several times as much memory.
func AppendJSON(b []byte, v any) []byte { return encode(slices.Grow(b, encodedSize(v)), v) }

// LendJSON lends the bytes of Encode to a function, which keeps none of them: they are written over by the next.
func LendJSON(v any, use func([]byte)) {
	lent := lendable.Get().(*[]byte)
	defer lendable.Put(lent)
	*lent = AppendJSON((*lent)[:0], v)
	use(*lent)
}

var lendable = sync.Pool{New: func() any { return new([]byte) }}

// room guesses how many bytes a value takes: enough, where not more than one character in eight is escaped.
func encodedSize(v any) int {
	n := 8 // a literal, or the brackets
	switch v := v.(type) {
	case map[string]any:
		//workflowcheck:ignore -- a sum
		for k, e := range v {
			n += encodedSize(k) + encodedSize(e)
		}
	case []any:
		for _, e := range v {
			n += encodedSize(e)
		}
	case Ordered:
		for _, f := range v {
			n += encodedSize(f.Key) + encodedSize(f.Value)
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
	case map[string]any:
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
	case Ordered:
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
	return encode(b, Normal(v))
}

// encodeField appends the nth key of an object, and what it holds.
func encodeField(b []byte, n int, key string, value any) []byte {
	if n > 0 {
		b = append(b, ',')
	}
	return encode(append(encodeString(b, key), ':'), value)
}

// Ordered is an object whose keys are encoded in the order given: for schemas that LLMs follow key by key.
type Ordered []Field

// Field is one key of an Ordered object.
type Field struct {
	Key   string
	Value any
}

// MarshalJSON gives the bytes of Encode.
func (o Ordered) MarshalJSON() ([]byte, error) { return Encode(o), nil }

const hexDigits = "0123456789abcdef"

// encodeString escapes the quote, the backslash and control characters, and nothing else: encoding/json would also
// escape U+2028 and U+2029, which no other language's plain encoder does.
func encodeString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0 // what is before it has been appended
	for i := 0; i < len(s); {
		if eightPlainBytes(s[i:]) {
			i += 8
			continue
		}
		for end := min(i+8, len(s)); i < end; {
			c := s[i]
			switch {
			case plainASCII[c]:
				i++
			case c < utf8.RuneSelf:
				b = appendEscaped(append(b, s[from:i]...), c)
				i++
				from = i
			default:
				r, n := utf8.DecodeRuneInString(s[i:])
				if r == utf8.RuneError && n == 1 { // no UTF-8
					b = utf8.AppendRune(append(b, s[from:i]...), r)
					from = i + 1
				}
				i += n
			}
		}
	}
	return append(append(b, s[from:]...), '"')
}

// asItIs are the ASCII characters that no string escapes.
var plainASCII = func() (table [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// eightAsTheyAre says whether the first eight bytes of a text are such characters. States are megabytes of them: to look at
// eight at a time takes half of the time. The highest bit of a byte is set below where it is less than a space, in quote
// and backslash where it is that, and in the word itself where it is not ASCII.
func eightPlainBytes(s string) bool {
	if len(s) < 8 {
		return false
	}
	const each = 0x0101010101010101
	word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	below, quote, backslash := word-each*' ', (word^each*'"')-each, (word^each*'\\')-each
	return (word|below|quote|backslash)&(each*utf8.RuneSelf) == 0
}

func appendEscaped(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// Normal turns a Go value (a struct, an int, a typed map) into the JSON value it encodes to.
func Normal(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var out any
	if d.Decode(&out) != nil {
		return nil
	}
	return out
}

// Equal says whether two values have the same canonical bytes.
func Equal(a, b any) bool { return bytes.Equal(Encode(a), Encode(b)) }

// TypeOf names a value's JSON type: "object", "array", "string", "number", "boolean" or "null".
func TypeOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case nil:
		return "null"
	}
	return "number"
}

func SortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	//workflowcheck:ignore -- sorted below
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// joinJSONPath gives the JSON path of a key: $.a.b, or $["a b"] where the key is no plain name.
func JSONPathKey(path, key string) string {
	if isName(key) {
		return path + "." + key
	}
	return path + "[" + string(encodeString(nil, key)) + "]"
}

func isName(s string) bool {
	return s != "" && !strings.ContainsAny(s, ".[]\"'\\") && strings.IndexFunc(s, unicode.IsSpace) < 0
}

// JSONPath joins steps to a JSON path: $.a["b c"].
func JSONPath(root string, steps ...string) string {
	for _, s := range steps {
		root = JSONPathKey(root, s)
	}
	return root
}
