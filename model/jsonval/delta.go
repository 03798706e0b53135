package jsonval

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// This file holds how one JSON value is kept as what it differs in from another. A delta is exact, null and the digits of
// numbers included, and applying it copies what lies along the changes alone: many values that grow out of one another
// share the rest.

// The keys of a delta. It is {"=": value}, or {"~": {key: delta}, "-": [keys that are gone]} for an object,
// {"~": {index: delta}, "+": [values appended], "-": length to cut to} for an array, {"+": text appended} for a text.
const (
	deltaIs     = "="
	deltaIn     = "~"
	deltaMore   = "+"
	deltaFewer  = "-"
	grownLength = 64 // bytes from which a text that merely grew is kept as its end
)

// Delta gives what turns one JSON value into another; ok is false where they are the same.
func Delta(from, to any) (delta map[string]any, ok bool) {
	switch to := to.(type) {
	case map[string]any:
		if from, isObject := from.(map[string]any); isObject {
			if sameObject(from, to) {
				return nil, false
			}
			return objectDelta(from, to)
		}
	case []any:
		if from, isArray := from.([]any); isArray {
			return arrayDelta(from, to)
		}
	case string:
		if from, isText := from.(string); isText {
			return textDelta(from, to)
		}
	case json.Number, bool, nil:
		if from == to {
			return nil, false
		}
	}
	if TypeOf(from) == TypeOf(to) && Equal(from, to) {
		return nil, false
	}
	return map[string]any{deltaIs: to}, true
}

// sameObject says whether two objects are one in memory, so that nobody need look into it: States share what a write
// left alone.
func sameObject(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

func textDelta(from, to string) (map[string]any, bool) {
	switch {
	case from == to:
		return nil, false
	case len(from) >= grownLength && strings.HasPrefix(to, from):
		return map[string]any{deltaMore: to[len(from):]}, true
	}
	return map[string]any{deltaIs: to}, true
}

func objectDelta(from, to map[string]any) (map[string]any, bool) {
	in, gone := map[string]any{}, []any{}
	for _, k := range SortedKeys(from) {
		if _, stays := to[k]; !stays {
			gone = append(gone, k)
		}
	}
	//workflowcheck:ignore -- a map again
	for k, v := range to {
		before, was := from[k]
		if !was {
			in[k] = map[string]any{deltaIs: v}
		} else if d, changed := Delta(before, v); changed {
			in[k] = d
		}
	}
	return deltaOf(in, deltaFewer, gone)
}

func arrayDelta(from, to []any) (map[string]any, bool) {
	in, both := map[string]any{}, min(len(from), len(to))
	for i := range both {
		if d, changed := Delta(from[i], to[i]); changed {
			in[strconv.Itoa(i)] = d
		}
	}
	delta, changed := deltaOf(in, deltaMore, to[both:])
	if len(to) < len(from) {
		if !changed {
			delta = map[string]any{}
		}
		delta[deltaFewer], changed = Normal(len(to)), true
	}
	return delta, changed
}

// deltaOf joins the changes inside a value and a list, each where there is any.
func deltaOf(in map[string]any, key string, list []any) (map[string]any, bool) {
	delta := map[string]any{}
	if len(in) > 0 {
		delta[deltaIn] = in
	}
	if len(list) > 0 {
		delta[key] = list
	}
	return delta, len(delta) > 0
}

var errNoDelta = errors.New("this is no delta")

// Advance applies a delta. What does not change is shared with the value that it is applied to, which stays as it is.
func Advance(from any, delta any) (any, error) {
	d, ok := delta.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("model: apply delta: %w", errNoDelta)
	}
	v, err := advance(from, d)
	if err != nil {
		return nil, fmt.Errorf("model: apply delta: %w", err)
	}
	return v, nil
}

func advance(from any, d map[string]any) (any, error) {
	if v, whole := d[deltaIs]; whole {
		return v, nil
	}
	switch from := from.(type) {
	case map[string]any:
		return advanceObject(from, d)
	case []any:
		return advanceArray(from, d)
	case string:
		if more, ok := d[deltaMore].(string); ok {
			return from + more, nil
		}
	}
	return nil, fmt.Errorf("it does not fit a value of type %s: %w", TypeOf(from), errNoDelta)
}

func advanceObject(from, d map[string]any) (any, error) {
	in, _ := d[deltaIn].(map[string]any)
	out := make(map[string]any, len(from)+len(in))
	//workflowcheck:ignore -- a map again
	for k, v := range from {
		out[k] = v
	}
	gone, _ := d[deltaFewer].([]any)
	for _, k := range gone {
		key, _ := k.(string)
		delete(out, key)
	}
	for _, k := range SortedKeys(in) {
		v, err := inner(out[k], in[k])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", Clip(k, 40), err)
		}
		out[k] = v
	}
	return out, nil
}

func advanceArray(from []any, d map[string]any) (any, error) {
	length := len(from)
	if cut, ok := d[deltaFewer]; ok {
		n, err := strconv.Atoi(string(Encode(cut)))
		if err != nil || n < 0 || n > length {
			return nil, fmt.Errorf("it cuts an array of %d to %s: %w", length, Clip(string(Encode(cut)), 20), errNoDelta)
		}
		length = n
	}
	more, _ := d[deltaMore].([]any)
	out := append(append(make([]any, 0, length+len(more)), from[:length]...), more...)
	in, _ := d[deltaIn].(map[string]any)
	for _, k := range SortedKeys(in) {
		i, err := strconv.Atoi(k)
		if err != nil || i < 0 || i >= length {
			return nil, fmt.Errorf("it changes element %s of %d: %w", Clip(k, 20), length, errNoDelta)
		}
		if out[i], err = inner(from[i], in[k]); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return out, nil
}

func inner(from, delta any) (any, error) {
	d, ok := delta.(map[string]any)
	if !ok {
		return nil, errNoDelta
	}
	return advance(from, d)
}
