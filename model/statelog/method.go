package statelog

import (
	"fmt"
	"slices"
)

// The ways a result can be put at its output path. The empty method is write-once.
const (
	methodAssign = "assign"
	MethodMerge  = "merge"
	MethodPush   = "push"
	MethodConcat = "concat"
)

func CheckMethod(v any) error {
	s, ok := v.(string)
	if !ok || !slices.Contains([]string{"set", methodAssign, MethodMerge, MethodPush, MethodConcat}, s) {
		return fmt.Errorf("_outputMethod is set, assign, merge, push or concat")
	}
	return nil
}

func MethodOf(v any) string {
	if s := v.(string); s != "set" {
		return s
	}
	return ""
}
