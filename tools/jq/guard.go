package jq

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// queryGuard lets through the part of jq that selects and computes, and rewrites it so that whatever makes a
// value is counted. Definitions, assignments, labels and functions that reach outside the value are refused.
type queryGuard struct{}

func (g queryGuard) query(q *gojq.Query) error {
	if q == nil {
		return nil
	}
	if q.Meta != nil || len(q.Imports) > 0 || len(q.FuncDefs) > 0 {
		return errors.New("modules and definitions are not allowed")
	}
	if q.Term != nil {
		return g.term(q.Term)
	}
	if q.Right == nil {
		return errors.New("it is empty")
	}
	if err := firstError(g.query(q.Left), g.patterns(q.Patterns), g.query(q.Right)); err != nil {
		return err
	}
	switch q.Op {
	case gojq.OpPipe, gojq.OpComma, gojq.OpAnd, gojq.OpOr, gojq.OpAlt,
		gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe:
	case gojq.OpAdd:
		chargeQuery(q)
	case gojq.OpSub, gojq.OpMul, gojq.OpDiv, gojq.OpMod:
		// Of text, `*` repeats without end.
		q.Left, q.Right = pipe(q.Left, "_number"), pipe(q.Right, "_number")
		chargeQuery(q)
	default:
		return fmt.Errorf("%s is not allowed: it reads, it does not assign", q.Op)
	}
	return nil
}

func (g queryGuard) term(t *gojq.Term) error {
	for _, s := range t.SuffixList {
		if err := g.index(s.Index); err != nil {
			return err
		}
	}
	switch t.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeRecurse, gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse,
		gojq.TermTypeNumber:
		return nil
	case gojq.TermTypeIndex:
		return g.index(t.Index)
	case gojq.TermTypeFunc:
		return g.function(t)
	case gojq.TermTypeObject:
		return g.object(t)
	case gojq.TermTypeArray:
		if t.Array.Query == nil {
			return nil
		}
		err := g.query(t.Array.Query)
		t.Array.Query = pipe(t.Array.Query, "_step")
		chargeTerm(t)
		return err
	case gojq.TermTypeUnary:
		return g.term(t.Unary.Term)
	case gojq.TermTypeString, gojq.TermTypeFormat:
		err := g.text(t.Str)
		if t.Type == gojq.TermTypeFormat || t.Str.Queries != nil {
			chargeTerm(t)
		}
		return err
	case gojq.TermTypeQuery:
		return g.query(t.Query)
	}
	return g.control(t)
}

func (g queryGuard) control(t *gojq.Term) error {
	switch t.Type {
	case gojq.TermTypeIf:
		for _, e := range t.If.Elif {
			if err := firstError(g.query(e.Cond), g.query(e.Then)); err != nil {
				return err
			}
		}
		return firstError(g.query(t.If.Cond), g.query(t.If.Then), g.query(t.If.Else))
	case gojq.TermTypeTry:
		return firstError(g.query(t.Try.Body), g.query(t.Try.Catch))
	case gojq.TermTypeReduce:
		r := t.Reduce
		return firstError(g.query(r.Query), g.patterns(r.Patterns), g.query(r.Start), g.query(r.Update))
	case gojq.TermTypeForeach:
		f := t.Foreach
		return firstError(g.query(f.Query), g.patterns(f.Patterns), g.query(f.Start), g.query(f.Update),
			g.query(f.Extract))
	}
	return fmt.Errorf("%s is not allowed", t)
}

func (g queryGuard) function(t *gojq.Term) error {
	f := t.Func
	if strings.HasPrefix(f.Name, "$") && len(f.Args) == 0 && f.Name != "$ENV" && f.Name != "$__prog_args" {
		return nil
	}
	signature := fmt.Sprintf("%s/%d", f.Name, len(f.Args))
	for _, arg := range f.Args {
		if err := g.query(arg); err != nil {
			return err
		}
	}
	switch {
	case slices.Contains(checkedFunctions, signature):
		f.Name = "_" + f.Name
		chargeTerm(t)
	case slices.Contains(makingFunctions, signature):
		for i, arg := range f.Args {
			f.Args[i] = pipe(arg, "_step")
		}
		chargeTerm(t)
	case !slices.Contains(readingFunctions, signature):
		return fmt.Errorf("%s is not allowed", signature)
	}
	return nil
}

func (g queryGuard) object(t *gojq.Term) error {
	for _, kv := range t.Object.KeyVals {
		if err := firstError(g.text(kv.KeyString), g.query(kv.KeyQuery), g.query(kv.Val)); err != nil {
			return err
		}
	}
	chargeTerm(t)
	return nil
}

func (g queryGuard) text(s *gojq.String) error {
	if s == nil {
		return nil
	}
	for _, q := range s.Queries {
		if err := g.query(q); err != nil {
			return err
		}
	}
	return nil
}

func (g queryGuard) index(i *gojq.Index) error {
	if i == nil {
		return nil
	}
	return firstError(g.text(i.Str), g.query(i.Start), g.query(i.End))
}

func (g queryGuard) patterns(patterns []*gojq.Pattern) error {
	for _, p := range patterns {
		if err := g.patterns(p.Array); err != nil {
			return err
		}
		for _, o := range p.Object {
			if err := firstError(g.text(o.KeyString), g.query(o.KeyQuery)); err != nil {
				return err
			}
			if o.Val != nil {
				if err := g.patterns([]*gojq.Pattern{o.Val}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
