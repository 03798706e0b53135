package jsonval

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
)

// The keys of a delta. A delta is {"=": new value}, or
//   - for an object {"~": {key: delta}, "-": [removed keys]},
//   - for an array {"~": {index: delta}, "+": [appended values], "-": length to cut to},
//   - for a string {"+": appended text}.
const (
	deltaReplace = "="
	deltaChanges = "~"
	deltaAppend  = "+"
	deltaRemove  = "-"

	minTextBytesForAppendDelta = 64 // from this many bytes on, a string that only grew is stored as the appended text
)

// ComputeDelta returns what changed from one JSON value to another, including null and the digits of numbers. ok is
// false if nothing did. ApplyDelta makes the second value from it.
func ComputeDelta(from, to any) (delta Object, ok bool) {
	switch to := to.(type) {
	case Object:
		if from, isObject := from.(Object); isObject {
			if isSameObjectInMemory(from, to) {
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
	return Object{deltaReplace: to}, true
}

// isSameObjectInMemory reports whether two objects are the same one in memory, whose keys need no comparison: States
// share the parts that a write did not change.
func isSameObjectInMemory(a, b Object) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

func textDelta(from, to string) (Object, bool) {
	switch {
	case from == to:
		return nil, false
	case len(from) >= minTextBytesForAppendDelta && strings.HasPrefix(to, from):
		return Object{deltaAppend: to[len(from):]}, true
	}
	return Object{deltaReplace: to}, true
}

func objectDelta(from, to Object) (Object, bool) {
	changes, removedKeys := Object{}, []any{}
	for k := range Sorted(from) {
		if _, isKept := to[k]; !isKept {
			removedKeys = append(removedKeys, k)
		}
	}
	//workflowcheck:ignore -- each key by itself, in any order
	for k, v := range to {
		oldValue, existed := from[k]
		if !existed {
			changes[k] = Object{deltaReplace: v}
		} else if d, hasChanged := ComputeDelta(oldValue, v); hasChanged {
			changes[k] = d
		}
	}
	return composeDelta(changes, deltaRemove, removedKeys)
}

func arrayDelta(from, to []any) (Object, bool) {
	changes, commonLength := Object{}, min(len(from), len(to))
	for i := range commonLength {
		if d, hasChanged := ComputeDelta(from[i], to[i]); hasChanged {
			changes[strconv.Itoa(i)] = d
		}
	}
	delta, hasChanged := composeDelta(changes, deltaAppend, to[commonLength:])
	if len(to) < len(from) {
		if !hasChanged {
			delta = Object{}
		}
		delta[deltaRemove], hasChanged = ToJSONValue(len(to)), true
	}
	return delta, hasChanged
}

// composeDelta makes one delta of the changes inside a value and of the list removedOrAppended under listKey. ok is
// false if both are empty.
func composeDelta(changes Object, listKey string, removedOrAppended []any) (delta Object, ok bool) {
	delta = Object{}
	if len(changes) > 0 {
		delta[deltaChanges] = changes
	}
	if len(removedOrAppended) > 0 {
		delta[listKey] = removedOrAppended
	}
	return delta, len(delta) > 0
}

var errWrongDelta = errors.New("not a delta of this value")

// ApplyDelta returns the value that a delta makes of from. It does not change from, and shares unchanged parts with it.
func ApplyDelta(from, delta any) (any, error) {
	v, err := applyDelta(from, delta)
	if err != nil {
		return nil, fmt.Errorf("jsonval: apply delta: %w", err)
	}
	return v, nil
}

func applyDelta(from, delta any) (any, error) {
	d, ok := delta.(Object)
	if !ok {
		return nil, errWrongDelta
	}
	if v, isReplacement := d[deltaReplace]; isReplacement {
		return v, nil
	}
	switch from := from.(type) {
	case Object:
		return applyDeltaToObject(from, d)
	case []any:
		return applyDeltaToArray(from, d)
	case string:
		if appendedText, ok := d[deltaAppend].(string); ok {
			return from + appendedText, nil
		}
	}
	return nil, fmt.Errorf("value of type %s: %w", TypeOf(from), errWrongDelta)
}

func applyDeltaToObject(from, d Object) (any, error) {
	changes := AsObject(d[deltaChanges])
	out := make(Object, len(from)+len(changes))
	maps.Copy(out, from)
	for _, k := range AsList(d[deltaRemove]) {
		delete(out, AsText(k))
	}
	for k, change := range Sorted(changes) {
		v, err := applyDelta(out[k], change)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", Clip(k, 40), err)
		}
		out[k] = v
	}
	return out, nil
}

func applyDeltaToArray(from []any, d Object) (any, error) {
	length := len(from)
	if newLength, ok := d[deltaRemove]; ok {
		n, err := strconv.Atoi(string(Encode(newLength)))
		if err != nil || n < 0 || n > length {
			return nil, fmt.Errorf("cut an array of %d to %s: %w", length, Clip(string(Encode(newLength)), 20),
				errWrongDelta)
		}
		length = n
	}
	appendedItems := AsList(d[deltaAppend])
	out := append(append(make([]any, 0, length+len(appendedItems)), from[:length]...), appendedItems...)
	changes := AsObject(d[deltaChanges])
	for k, change := range Sorted(changes) {
		i, err := strconv.Atoi(k)
		if err != nil || i < 0 || i >= length {
			return nil, fmt.Errorf("change element %s of %d: %w", Clip(k, 20), length, errWrongDelta)
		}
		if out[i], err = applyDelta(from[i], change); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return out, nil
}
