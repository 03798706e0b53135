package jsonval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of what Decode reads. They are far above what people write and far below what hurts.
const (
	maxDepth     = 128  // nested objects and arrays
	maxNumberLen = 1000 // characters of one number
	maxExponent  = 308  // of a number's power of ten, as for float64
)

// Decode reads one JSON value and refuses what encoding/json lets pass: duplicate keys, bad UTF-8, numbers out of all
// proportion, deep nesting, text behind the value. Numbers stay as they were written (json.Number).
func Decode(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("model: decode JSON: not valid UTF-8")
	}
	d := &decoder{json.NewDecoder(bytes.NewReader(data))}
	d.UseNumber()
	v, err := d.value("$", 0)
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

type decoder struct{ *json.Decoder }

func (d *decoder) value(path string, depth int) (any, error) {
	t, err := d.token()
	if err != nil {
		return nil, err
	}
	return d.rest(t, path, depth)
}

// token is Token with truncation told apart from a clean end, which encoding/json does not do.
func (d *decoder) token() (json.Token, error) {
	t, err := d.Token()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the text ends at byte %d, inside the value", d.InputOffset())
	}
	return t, err
}

func (d *decoder) rest(t json.Token, path string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%s: nested deeper than %d", path, maxDepth)
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return d.object(path, depth)
		}
		return d.array(path, depth)
	case json.Number:
		return t, checkNumber(t, path)
	}
	return t, nil
}

func (d *decoder) object(path string, depth int) (any, error) {
	m := map[string]any{}
	for d.More() {
		t, err := d.token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // the decoder has made sure
		at := JSONPathKey(path, key)
		if _, twice := m[key]; twice {
			return nil, fmt.Errorf("%s: the key stands twice", at)
		}
		if m[key], err = d.value(at, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.token()
	return m, err
}

func (d *decoder) array(path string, depth int) (any, error) {
	a := []any{}
	for d.More() {
		v, err := d.value(fmt.Sprintf("%s[%d]", path, len(a)), depth+1)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	_, err := d.token()
	return a, err
}

// checkNumber refuses numbers that arithmetic with big rationals would choke on, such as 1e10000000.
func checkNumber(n json.Number, path string) error {
	s := n.String()
	if len(s) > maxNumberLen {
		return fmt.Errorf("%s: a number of %d characters", path, len(s))
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if e, err := strconv.Atoi(s[i+1:]); err != nil || e > maxExponent || e < -maxExponent {
			return fmt.Errorf("%s: the number %.40s is out of range", path, s)
		}
	}
	if f, err := n.Float64(); err == nil && !math.IsInf(f, 0) || !strings.ContainsAny(s, "eE.") {
		return nil
	}
	return fmt.Errorf("%s: the number %.40s is out of range", path, s)
}
