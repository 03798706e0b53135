package refexpr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"processidea/model/jsonval"
)

// Expression is what a parameter that begins with a dagger stands for: a list of alternatives, joined by ||. Each is a
// list of References, joined by &&, all of which must be present; the value is that of the last.
type Expression [][]Reference

const (
	orSign  = "||"
	andSign = "&&"
	// maxTerms bounds the References of one expression.
	maxTerms = 64
)

// ParseExpression reads †a || †b && †c; && binds tighter than ||. Every term is a Reference.
func ParseExpression(s string) (Expression, error) {
	var e Expression
	terms := 0
	for _, alternative := range splitUnquoted(s, orSign) {
		var refs []Reference
		for _, term := range splitUnquoted(alternative, andSign) {
			terms++
			if terms > maxTerms {
				return nil, fmt.Errorf("reference %q: more than %d terms", jsonval.Clip(s, 80), maxTerms)
			}
			ref, err := ParseReference(strings.TrimSpace(term))
			if err != nil {
				return nil, err
			}
			refs = append(refs, ref)
		}
		e = append(e, refs)
	}
	return e, nil
}

// isCompoundExpression reports whether a text joins several terms.
func isCompoundExpression(s string) bool {
	return len(splitUnquoted(s, orSign)) > 1 || len(splitUnquoted(s, andSign)) > 1
}

// splitUnquoted cuts a text at a sign, except within a quoted step of a path.
func splitUnquoted(s, sign string) []string {
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

// String writes the expression in the form that ParseExpression reads.
func (e Expression) String() string {
	alternatives := make([]string, len(e))
	for i, refs := range e {
		terms := make([]string, len(refs))
		for n, ref := range refs {
			terms[n] = ref.String()
		}
		alternatives[i] = strings.Join(terms, " "+andSign+" ")
	}
	return strings.Join(alternatives, " "+orSign+" ")
}

// References lists the terms of all alternatives, in order.
func (e Expression) References() []Reference { return slices.Concat(e...) }

// HasReferenceOfKind reports whether a term is a Reference of a kind.
func (e Expression) HasReferenceOfKind(kind string) bool {
	return slices.ContainsFunc(e.References(), func(r Reference) bool { return r.Kind == kind })
}

// Evaluate gives the value of the last term of the first alternative whose terms are all present. null counts as
// present.
func (e Expression) Evaluate(lookup func(Reference) (any, bool)) (v any, present bool) {
	for _, refs := range e {
		if v, present = lastValueIfAllPresent(refs, lookup); present {
			return v, true
		}
	}
	return nil, false
}

// lastValueIfAllPresent gives the value of the last Reference if all of them are present. Each is looked up, present or
// not.
func lastValueIfAllPresent(refs []Reference, lookup func(Reference) (any, bool)) (v any, present bool) {
	present = true
	for _, ref := range refs {
		var ok bool
		v, ok = lookup(ref)
		present = present && ok
	}
	return v, present
}
