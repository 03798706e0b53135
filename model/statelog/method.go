package statelog

import (
	"fmt"
	"slices"

	"processidea/model/jsonval"
)

// The methods by which a result changes the value at its output path. The empty method is write-once.
const (
	methodAssign = "assign"
	MethodMerge  = "merge"
	MethodPush   = "push"
	MethodConcat = "concat"
)

// MethodWithdraw takes back a write of a Call, as if it had not been made. No Call may declare it.
const MethodWithdraw = "withdraw"

// Withdraws reports whether a write takes another one back.
func (w Write) Withdraws(o Write) bool {
	return w.OutputMethod == MethodWithdraw && o.OutputMethod != MethodWithdraw && o.CorrectionNumber == 0 &&
		w.Request == o.Request && w.Index == o.Index && slices.Equal(w.Path, o.Path)
}

// CheckOutputMethod gives an error if v is no output method.
func CheckOutputMethod(v any) error {
	s, ok := v.(string)
	if !ok || !slices.Contains([]string{"set", methodAssign, MethodMerge, MethodPush, MethodConcat}, s) {
		return fmt.Errorf("_outputMethod is set, assign, merge, push or concat")
	}
	return nil
}

// NormalizeOutputMethod gives the Write.OutputMethod of an output method that CheckOutputMethod accepts: "set" becomes
// "", which is write-once.
func NormalizeOutputMethod(v any) string {
	if s := v.(string); s != "set" {
		return s
	}
	return ""
}

// combineByMethod gives the value after a write with a method. Without one it is the new value.
func combineByMethod(method string, old, value any) any {
	switch method {
	case methodAssign:
		return jsonval.OverlayObject(old, value)
	case MethodMerge:
		return jsonval.DeepMerge(old, value)
	case MethodPush:
		return appendToList(old, []any{value})
	case MethodConcat:
		return concatenate(old, value)
	}
	return value
}

// concatenate joins two strings or two arrays; anything else is appended as one element.
func concatenate(old, value any) any {
	if a, ok := old.(string); ok {
		if b, ok := value.(string); ok {
			return a + b
		}
	}
	if list, ok := value.([]any); ok {
		return appendToList(old, list)
	}
	if old == nil {
		return value
	}
	return appendToList(old, []any{value})
}

// appendToList appends to an array. If old is a single value, it becomes the first element of a new array.
func appendToList(old any, elements []any) any {
	var list []any
	switch o := old.(type) {
	case nil:
	case []any:
		list = append(list, o...)
	default:
		list = append(list, o)
	}
	return append(list, elements...)
}
