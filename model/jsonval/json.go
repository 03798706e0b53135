package jsonval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// DecodeLimits bound what DecodeWithLimits reads.
type DecodeLimits struct {
	MaxDepth              int  // of nested objects and arrays; 0: as deep as the stack allows
	MaxNumberBytes        int  // characters of one number; 0: numbers may be of any length and size
	IntegersFitFloat64    bool // integers too must be in the range of a float64
	RefusesLoneSurrogates bool // half of a character, such as "\ud800", is refused; else it becomes U+FFFD
}

// DefaultLimits are the bounds of Decode: far above what people write and far below what hurts.
var DefaultLimits = DecodeLimits{MaxDepth: 128, MaxNumberBytes: 1000}

const maxExponent = 308 // of a number's power of ten, as for float64

// Decode reads one JSON value and refuses what encoding/json lets pass: duplicate keys, bad UTF-8, numbers out of all
// proportion, deep nesting, text behind the value. Numbers stay as they were written (json.Number).
func Decode(data []byte) (any, error) { return DecodeWithLimits(data, DefaultLimits) }

// DecodeWithLimits is Decode with other bounds.
func DecodeWithLimits(data []byte, limits DecodeLimits) (any, error) {
	return decode(data, limits, nil)
}

// KeyOrder records the order of the keys of some objects, which a map loses. It knows the decoded objects themselves,
// not copies of them.
type KeyOrder map[uintptr][]string

// KeysOf returns the keys of an object in their order in the text; nil if that is not known.
func (o KeyOrder) KeysOf(m Object) []string { return o[reflect.ValueOf(m).Pointer()] }

// DecodeWithKeyOrder is DecodeWithLimits, and also returns the key order of each object under a key "properties", as in
// a JSON Schema. Sorted keys are left out: a program may have written them, and their order means nothing.
func DecodeWithKeyOrder(data []byte, limits DecodeLimits) (any, KeyOrder, error) {
	order := KeyOrder{}
	v, err := decode(data, limits, order)
	return v, order, err
}

func decode(data []byte, limits DecodeLimits, order KeyOrder) (any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("model: decode JSON: not valid UTF-8")
	}
	if limits.RefusesLoneSurrogates {
		if offset := findLoneSurrogate(data); offset >= 0 {
			return nil, fmt.Errorf("model: decode JSON: %s at byte %d is half of a character", data[offset:offset+6],
				offset)
		}
	}
	d := &decoder{Decoder: json.NewDecoder(bytes.NewReader(data)), limits: limits, order: order}
	d.UseNumber()
	v, err := d.decodeValue()
	if err != nil {
		return nil, fmt.Errorf("model: decode JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("model: decode JSON: text after the value, at byte %d", d.InputOffset())
	}
	return v, nil
}

// findLoneSurrogate returns where a JSON text escapes half of a character; -1 if it does not.
func findLoneSurrogate(data []byte) int {
	escapedUnitAt := func(offset int) rune {
		if offset+6 > len(data) || data[offset] != '\\' || data[offset+1] != 'u' {
			return 0
		}
		unit, _ := strconv.ParseUint(string(data[offset+2:offset+6]), 16, 16)
		return rune(unit)
	}
	for offset := 0; offset < len(data); {
		backslashOffset := bytes.IndexByte(data[offset:], '\\')
		if backslashOffset < 0 {
			break
		}
		offset += backslashOffset
		switch firstUnit := escapedUnitAt(offset); {
		case !utf16.IsSurrogate(firstUnit):
			offset += 2
		case utf16.DecodeRune(firstUnit, escapedUnitAt(offset+6)) == utf8.RuneError:
			return offset
		default:
			offset += 12
		}
	}
	return -1
}

// DecodeObject is Decode for a value that must be an object.
func DecodeObject(data []byte) (Object, error) {
	v, err := Decode(data)
	if err != nil {
		return nil, err
	}
	m, ok := v.(Object)
	if !ok {
		return nil, fmt.Errorf("model: decode JSON: want an object, got %s", TypeOf(v))
	}
	return m, nil
}

type decoder struct {
	*json.Decoder
	limits      DecodeLimits
	currentPath []pathStep // of the value that is being read
	order       KeyOrder   // nil: not recorded
}

// pathStep is a key or, if index is not negative, an index of a list. Paths become text only for errors, since large
// values have a path for every element.
type pathStep struct {
	key   string
	index int
}

// errorAtCurrentPath wraps an error with the place of the value that is being read.
func (d *decoder) errorAtCurrentPath(err error) error {
	path := "$"
	for _, s := range d.currentPath {
		if s.index >= 0 {
			path += "[" + strconv.Itoa(s.index) + "]"
		} else {
			path = JSONPathWithKey(path, s.key)
		}
	}
	return fmt.Errorf("%s: %w", path, err)
}

func (d *decoder) decodeValue() (any, error) {
	t, err := d.nextToken()
	if err != nil {
		return nil, err
	}
	if limit := d.limits.MaxDepth; limit > 0 && len(d.currentPath) > limit {
		return nil, d.errorAtCurrentPath(fmt.Errorf("nested deeper than %d", limit))
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return d.decodeObject()
		}
		return d.decodeArray()
	case json.Number:
		if err := d.limits.checkNumber(t); err != nil {
			return nil, d.errorAtCurrentPath(err)
		}
	}
	return t, nil
}

// nextToken is Token, but distinguishes truncation from a clean end, which encoding/json does not.
func (d *decoder) nextToken() (json.Token, error) {
	t, err := d.Token()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the text ends at byte %d, inside the value", d.InputOffset())
	}
	return t, err
}

func (d *decoder) decodeObject() (any, error) {
	m := Object{}
	depth := len(d.currentPath)
	recordsOrder, keys := d.order != nil && depth > 0 && d.currentPath[depth-1] == pathStep{"properties", -1},
		[]string(nil)
	for d.More() {
		t, err := d.nextToken()
		if err != nil {
			return nil, err
		}
		key := t.(string) // the decoder allows nothing else
		d.currentPath = append(d.currentPath[:depth], pathStep{key, -1})
		if _, isDuplicate := m[key]; isDuplicate {
			return nil, d.errorAtCurrentPath(errors.New("the key stands twice"))
		}
		if m[key], err = d.decodeValue(); err != nil {
			return nil, err
		}
		if recordsOrder {
			keys = append(keys, key)
		}
	}
	if !slices.IsSorted(keys) {
		d.order[reflect.ValueOf(m).Pointer()] = keys
	}
	d.currentPath = d.currentPath[:depth]
	_, err := d.nextToken()
	return m, err
}

func (d *decoder) decodeArray() (any, error) {
	a := []any{}
	depth := len(d.currentPath)
	for d.More() {
		d.currentPath = append(d.currentPath[:depth], pathStep{index: len(a)})
		v, err := d.decodeValue()
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	d.currentPath = d.currentPath[:depth]
	_, err := d.nextToken()
	return a, err
}

// CheckNumbers returns the error of an invalid number in a value, at any depth. The depth is not checked.
func (b DecodeLimits) CheckNumbers(v any) error {
	if n, ok := v.(json.Number); ok {
		return b.checkNumber(n)
	}
	for _, e := range Members(v) {
		if err := b.CheckNumbers(e); err != nil {
			return err
		}
	}
	return nil
}

// checkNumber refuses numbers that arithmetic with big rationals would choke on, such as 1e10000000.
func (b DecodeLimits) checkNumber(n json.Number) error {
	s := n.String()
	if b.MaxNumberBytes == 0 {
		return nil
	}
	if len(s) > b.MaxNumberBytes {
		return fmt.Errorf("a number of %d characters", len(s))
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if e, err := strconv.Atoi(s[i+1:]); err != nil || e > maxExponent || e < -maxExponent {
			return fmt.Errorf("the number %.40s is out of range", s)
		}
	}
	if f, err := n.Float64(); (err == nil && !math.IsInf(f, 0)) ||
		(!b.IntegersFitFloat64 && !strings.ContainsAny(s, "eE.")) {
		return nil
	}
	return fmt.Errorf("the number %.40s is out of range", s)
}
