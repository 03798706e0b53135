package refexpr

import (
	"fmt"
	"strconv"
	"strings"

	"processidea/model/jsonval"
)

// Expression is what a parameter that begins with a dagger stands for: alternatives, joined by ||, each a list of
// References joined by &&, of which all are needed and the last is yielded. A plain Reference is the only one of the only
// alternative.
type Expression [][]Reference

const (
	orSign  = "||"
	andSign = "&&"
	// maxTerms bounds the References of one expression.
	maxTerms = 64
)

// ParseExpression reads †a || †b && †c; && binds tighter. Every term is a Reference.
func ParseExpression(s string) (Expression, error) {
	var e Expression
	terms := 0
	for _, alternative := range splitOutside(s, orSign) {
		var all []Reference
		for _, term := range splitOutside(alternative, andSign) {
			if terms++; terms > maxTerms {
				return nil, fmt.Errorf("reference %q: more than %d terms", jsonval.Clip(s, 80), maxTerms)
			}
			ref, err := ParseReference(strings.TrimSpace(term))
			if err != nil {
				return nil, err
			}
			all = append(all, ref)
		}
		e = append(e, all)
	}
	return e, nil
}

// isExpression says whether a text joins several terms.
func isExpression(s string) bool {
	return len(splitOutside(s, orSign)) > 1 || len(splitOutside(s, andSign)) > 1
}

// splitOutside cuts a text at a sign wherever that does not stand in a quoted step of a path.
func splitOutside(s, sign string) []string {
	var parts []string
	from := 0
	for i := 0; i < len(s); {
		if strings.HasPrefix(s[i:], `["`) {
			if quoted, err := strconv.QuotedPrefix(s[i+1:]); err == nil {
				i += 1 + len(quoted)
				continue
			}
		}
		if strings.HasPrefix(s[i:], sign) {
			parts = append(parts, s[from:i])
			i += len(sign)
			from = i
			continue
		}
		i++
	}
	return append(parts, s[from:])
}

// String gives the form that ParseExpression reads.
func (e Expression) String() string {
	alternatives := make([]string, len(e))
	for i, all := range e {
		terms := make([]string, len(all))
		for n, ref := range all {
			terms[n] = ref.String()
		}
		alternatives[i] = strings.Join(terms, " "+andSign+" ")
	}
	return strings.Join(alternatives, " "+orSign+" ")
}

// References lists the terms in order.
func (e Expression) References() []Reference {
	var list []Reference
	for _, all := range e {
		list = append(list, all...)
	}
	return list
}

// has says whether a term is of a kind.
func (e Expression) ReadsKind(kind string) bool {
	for _, ref := range e.References() {
		if ref.Kind == kind {
			return true
		}
	}
	return false
}

// value is that of the first alternative of which all is present: its last term's. null counts as present.
func (e Expression) Value(lookup func(Reference) (any, bool)) (any, bool) {
	for _, all := range e {
		var v any
		present := true
		for _, ref := range all {
			var ok bool
			v, ok = lookup(ref)
			present = present && ok
		}
		if present {
			return v, true
		}
	}
	return nil, false
}

// Expressions finds the expressions in a parameter value, plain References among them, at any depth, in a fixed order. Bad
// ones are errors.
func Expressions(v any) ([]Expression, error) {
	switch v := v.(type) {
	case string:
		if !IsReference(v) {
			return nil, nil
		}
		e, err := ParseExpression(v)
		return []Expression{e}, err
	case map[string]any:
		list := make([]any, 0, len(v))
		for _, k := range jsonval.SortedKeys(v) {
			list = append(list, v[k])
		}
		return Expressions(list)
	case []any:
		var all []Expression
		for _, x := range v {
			found, err := Expressions(x)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	}
	return nil, nil
}
