package refexpr

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/jsonval"
)

// Template is a text with values in it, such as †`Order ${state.order.id} comes on ${state.day || input.day}.` Between
// ${ and } is an expression without its daggers. A string value is inserted unchanged, any other value as JSON. $${ is
// a literal ${.
type Template struct {
	literalTexts []string // before, between and behind the expressions: one more than there are expressions
	expressions  []Expression
}

const (
	templateStart = Dagger + "`"
	templateEnd   = "`"
	// maxTemplateExpressions bounds the expressions of one template.
	maxTemplateExpressions = 256
)

// IsTemplate reports whether a parameter's string value is a Template.
func IsTemplate(s string) bool { return strings.HasPrefix(s, templateStart) }

// ParseTemplate reads a Template.
func ParseTemplate(s string) (Template, error) {
	t := Template{}
	body, isClosed := strings.CutSuffix(strings.TrimPrefix(s, templateStart), templateEnd)
	if !isClosed {
		return t, fmt.Errorf("template %q: it does not end with %s", jsonval.ClipForError(s), templateEnd)
	}
	text := ""
	for {
		before, rest, isFound := strings.Cut(body, "${")
		if !isFound {
			t.literalTexts = append(t.literalTexts, text+body)
			return t, nil
		}
		if escaped, ok := strings.CutSuffix(before, "$"); ok {
			text, body = text+escaped+"${", rest
			continue
		}
		expression, after, ok := cutUnquoted(rest, "}")
		if !ok {
			return t, fmt.Errorf("template %q: a ${ has no }", jsonval.ClipForError(s))
		}
		e, err := parseExpression(expression, ParseScope) // without daggers, ParseScope reads the terms
		if err != nil {
			return t, fmt.Errorf("template %q: %w", jsonval.ClipForError(s), err)
		}
		t.literalTexts, t.expressions = append(t.literalTexts, text+before), append(t.expressions, e)
		if len(t.expressions) > maxTemplateExpressions {
			return t, fmt.Errorf("template %q: more than %d values", jsonval.ClipForError(s), maxTemplateExpressions)
		}
		text, body = "", after
	}
}

// VisitParts visits the parts of a template in their order.
func (t Template) VisitParts(onLiteral func(string), onExpression func(Expression)) {
	for n, e := range t.expressions {
		onLiteral(t.literalTexts[n])
		onExpression(e)
	}
	onLiteral(t.literalTexts[len(t.expressions)])
}

// References lists what a template reads.
func (t Template) References() []Reference {
	return slices.Concat(jsonval.Map(t.expressions, Expression.References)...)
}

// render returns the text with its values, or the error of the first value that has one. A value in the blob store is
// an error.
func (t Template) render(resolve func(Expression) (any, error)) (any, error) {
	var b strings.Builder
	for n, e := range t.expressions {
		b.WriteString(t.literalTexts[n])
		v, err := resolve(e)
		if err != nil {
			return nil, err
		}
		if jsonval.ContainsBlobHandle(v) {
			return nil, fmt.Errorf("reference %s: a value over %d KB does not fit into a text", e,
				jsonval.LargeValueBytes>>10)
		}
		if text, ok := v.(string); ok {
			b.WriteString(text)
		} else {
			b.Write(jsonval.Encode(v))
		}
	}
	b.WriteString(t.literalTexts[len(t.expressions)])
	return b.String(), nil
}
