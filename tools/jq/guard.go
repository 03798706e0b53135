package jq

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// checkAndMeterNode admits the part of jq that selects and computes, and rewrites it so that everything that makes a
// value is counted. It refuses definitions, assignments, labels and functions that reach outside the value. It walks
// the whole parsed query by reflection, so that it misses nothing that a later gojq adds.
func checkAndMeterNode(node reflect.Value) error {
	switch node.Kind() {
	case reflect.Pointer:
		if node.IsNil() {
			return nil
		}
		if q, ok := node.Interface().(*gojq.Query); ok && (q.Meta != nil || len(q.Imports) > 0 || len(q.FuncDefs) > 0) {
			return errors.New("modules and definitions are not allowed")
		}
		if err := checkAndMeterNode(node.Elem()); err != nil {
			return err
		}
		switch node := node.Interface().(type) {
		case *gojq.Query:
			return checkAndMeterQuery(node)
		case *gojq.Term:
			return checkAndMeterTerm(node)
		}
	case reflect.Struct:
		for _, field := range node.Fields() {
			if err := checkAndMeterNode(field); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for n := range node.Len() {
			if err := checkAndMeterNode(node.Index(n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkAndMeterQuery is checkAndMeterNode for a query whose parts are guarded already.
func checkAndMeterQuery(q *gojq.Query) error {
	if q.Term != nil {
		return nil
	}
	if q.Right == nil {
		return errors.New("it is empty")
	}
	switch q.Op {
	case gojq.OpPipe, gojq.OpComma, gojq.OpAnd, gojq.OpOr, gojq.OpAlt,
		gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe:
	case gojq.OpAdd:
		wrapQueryWithCharge(q)
	case gojq.OpSub, gojq.OpMul, gojq.OpDiv, gojq.OpMod:
		// Applied to text, `*` repeats it without bound.
		q.Left, q.Right = pipeInto(q.Left, "_number"), pipeInto(q.Right, "_number")
		wrapQueryWithCharge(q)
	default:
		return fmt.Errorf("%s is not allowed: it reads, it does not assign", q.Op)
	}
	return nil
}

// checkAndMeterTerm is checkAndMeterNode for a term whose parts are guarded already.
func checkAndMeterTerm(t *gojq.Term) error {
	switch t.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeRecurse, gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse,
		gojq.TermTypeIndex, gojq.TermTypeUnary, gojq.TermTypeQuery,
		gojq.TermTypeIf, gojq.TermTypeTry, gojq.TermTypeReduce, gojq.TermTypeForeach:
	case gojq.TermTypeNumber:
		keepDecimalDigits(t)
	case gojq.TermTypeFunc:
		return checkAndMeterFunction(t)
	case gojq.TermTypeObject, gojq.TermTypeFormat:
		wrapTermWithCharge(t)
	case gojq.TermTypeArray:
		if t.Array.Query != nil {
			t.Array.Query = pipeInto(t.Array.Query, "_step")
			wrapTermWithCharge(t)
		}
	case gojq.TermTypeString:
		if t.Str.Queries != nil {
			wrapTermWithCharge(t)
		}
	default:
		return fmt.Errorf("%s is not allowed", t)
	}
	return nil
}

func checkAndMeterFunction(t *gojq.Term) error {
	f := t.Func
	if strings.HasPrefix(f.Name, "$") && len(f.Args) == 0 && f.Name != "$ENV" && f.Name != "$__prog_args" {
		return nil
	}
	signature := fmt.Sprintf("%s/%d", f.Name, len(f.Args))
	switch {
	case slices.Contains(checkedFunctions, signature):
		f.Name = "_" + f.Name
		wrapTermWithCharge(t)
	case slices.Contains(growingFunctions, signature):
		for i, arg := range f.Args {
			f.Args[i] = pipeInto(arg, "_step")
		}
		wrapTermWithCharge(t)
	case !slices.Contains(readingFunctions, signature):
		return fmt.Errorf("%s is not allowed", signature)
	}
	return nil
}
