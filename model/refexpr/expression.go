package refexpr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"processidea/model/jsonval"
)

// Expression is a parameter that begins with a dagger: a list of alternatives, joined by ||. Each alternative is a list
// of References, joined by &&, all of which must be present; its value is that of the last Reference.
type Expression [][]Reference

const (
	orSign  = "||"
	andSign = "&&"
	// maxTerms bounds the References of one expression.
	maxTerms = 64
)

// ParseExpression reads †a || †b && †c; && binds tighter than ||. Every term is a Reference.
func ParseExpression(s string) (Expression, error) { return parseExpression(s, ParseReference) }

func parseExpression(s string, parse func(term string) (Reference, error)) (Expression, error) {
	terms, err := parseTerms(s, func(term string) (Reference, error) { return parse(strings.TrimSpace(term)) })
	e := Expression(terms)
	if len(e.References()) > maxTerms {
		return nil, fmt.Errorf("reference %q: more than %d terms", jsonval.ClipForError(s), maxTerms)
	}
	return e, err
}

// parseTerms parses alternatives joined by ||, each of which is terms joined by &&.
func parseTerms[T any](s string, parse func(term string) (T, error)) (alternatives [][]T, err error) {
	for _, alternative := range splitUnquoted(s, orSign) {
		var list []T
		for _, text := range splitUnquoted(alternative, andSign) {
			term, err := parse(text)
			if err != nil {
				return nil, err
			}
			list = append(list, term)
		}
		alternatives = append(alternatives, list)
	}
	return alternatives, nil
}

// isCompoundExpression reports whether a text joins several terms.
func isCompoundExpression(s string) bool {
	return len(splitUnquoted(s, orSign)) > 1 || len(splitUnquoted(s, andSign)) > 1
}

// splitUnquoted cuts a text at each sign, except within a quoted step of a path.
func splitUnquoted(s, separator string) (parts []string) {
	for isFound := true; isFound; {
		var part string
		part, s, isFound = cutUnquoted(s, separator)
		parts = append(parts, part)
	}
	return parts
}

// cutUnquoted cuts a text at the first sign that is not within a quoted step of a path.
func cutUnquoted(s, separator string) (before, after string, isFound bool) {
	for i := 0; i < len(s); i++ {
		if strings.HasPrefix(s[i:], `["`) {
			if quoted, err := strconv.QuotedPrefix(s[i+1:]); err == nil {
				i += len(quoted)
				continue
			}
		}
		if after, isFound = strings.CutPrefix(s[i:], separator); isFound {
			return s[:i], after, true
		}
	}
	return s, "", false
}

// String writes the expression in the form that ParseExpression reads.
func (e Expression) String() string {
	alternativeTexts := jsonval.Map(e, func(refs []Reference) string {
		return strings.Join(jsonval.Map(refs, Reference.String), " "+andSign+" ")
	})
	return strings.Join(alternativeTexts, " "+orSign+" ")
}

// References lists the terms of all alternatives, in order.
func (e Expression) References() []Reference { return slices.Concat(e...) }

// HasReferenceOfKind reports whether a term is a Reference of a kind.
func (e Expression) HasReferenceOfKind(kind string) bool {
	return slices.ContainsFunc(e.References(), func(r Reference) bool { return r.Kind == kind })
}

// Evaluate gives the value of the last term of the first alternative whose terms are all present. null counts as
// present.
func (e Expression) Evaluate(lookup func(Reference) (any, bool)) (v any, isPresent bool) {
	for _, refs := range e {
		if v, isPresent = lastValueIfAllPresent(refs, lookup); isPresent {
			return v, true
		}
	}
	return nil, false
}

// lastValueIfAllPresent gives the value of the last Reference if all of them are present. It looks up all of them, even
// after one that is absent.
func lastValueIfAllPresent(refs []Reference, lookup func(Reference) (any, bool)) (v any, isPresent bool) {
	isPresent = true
	for _, ref := range refs {
		var ok bool
		v, ok = lookup(ref)
		isPresent = isPresent && ok
	}
	return v, isPresent
}
