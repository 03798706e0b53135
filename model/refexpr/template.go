package refexpr

import (
	"fmt"
	"strconv"
	"strings"

	"processidea/model/jsonval"
)

// Template is a text with values in it, such as †`Order ${state.order.id} comes on ${state.day || input.day}.` Between
// ${ and } stands an expression, its daggers left out. A value that is a string goes in as it is, any other as JSON.
// $${ is a literal ${.
type Template struct {
	literalTexts []string // before, between and behind the expressions: one more than those
	expressions  []Expression
}

const (
	templateStart = Dagger + "`"
	templateEnd   = "`"
	// maxTemplateValues bounds the expressions of one template.
	maxTemplateValues = 256
)

// IsTemplate reports whether a parameter's string value is a Template.
func IsTemplate(s string) bool { return strings.HasPrefix(s, templateStart) }

// ParseTemplate reads a Template.
func ParseTemplate(s string) (Template, error) {
	t := Template{}
	body, closed := strings.CutSuffix(strings.TrimPrefix(s, templateStart), templateEnd)
	if !closed {
		return t, fmt.Errorf("template %q: it does not end with %s", jsonval.Clip(s, 80), templateEnd)
	}
	text := ""
	for {
		before, rest, found := strings.Cut(body, "${")
		if !found {
			t.literalTexts = append(t.literalTexts, text+body)
			return t, nil
		}
		if escaped, ok := strings.CutSuffix(before, "$"); ok {
			text, body = text+escaped+"${", rest
			continue
		}
		expression, after, ok := splitAtClosingBrace(rest)
		if !ok {
			return t, fmt.Errorf("template %q: a ${ has no }", jsonval.Clip(s, 80))
		}
		e, err := parseExpressionWithoutDaggers(expression)
		if err != nil {
			return t, fmt.Errorf("template %q: %w", jsonval.Clip(s, 80), err)
		}
		t.literalTexts, t.expressions = append(t.literalTexts, text+before), append(t.expressions, e)
		if len(t.expressions) > maxTemplateValues {
			return t, fmt.Errorf("template %q: more than %d values", jsonval.Clip(s, 80), maxTemplateValues)
		}
		text, body = "", after
	}
}

// splitAtClosingBrace cuts a text at the first } outside a quoted step of a path.
func splitAtClosingBrace(s string) (before, after string, ok bool) {
	for i := 0; i < len(s); i++ {
		if quoted, err := strconv.QuotedPrefix(s[i:]); err == nil && i > 0 && s[i-1] == '[' && s[i] == '"' {
			i += len(quoted) - 1
			continue
		}
		if s[i] == '}' {
			return s[:i], s[i+1:], true
		}
	}
	return "", "", false
}

// parseExpressionWithoutDaggers reads an expression whose terms may lack the dagger: between ${ and } there are only
// References.
func parseExpressionWithoutDaggers(s string) (Expression, error) {
	alternatives := splitUnquoted(s, orSign)
	for i, alternative := range alternatives {
		terms := splitUnquoted(alternative, andSign)
		for n, term := range terms {
			terms[n] = Dagger + strings.TrimPrefix(strings.TrimSpace(term), Dagger)
		}
		alternatives[i] = strings.Join(terms, andSign)
	}
	return ParseExpression(strings.Join(alternatives, orSign))
}

// Each visits the parts of a template in their order.
func (t Template) Each(literal func(string), value func(Expression)) {
	for n, e := range t.expressions {
		literal(t.literalTexts[n])
		value(e)
	}
	literal(t.literalTexts[len(t.expressions)])
}

// References lists what a template reads.
func (t Template) References() (all []Reference) {
	for _, e := range t.expressions {
		all = append(all, e.References()...)
	}
	return all
}

// render gives the text with the values in it, or the error of one. A value that lies in the store is an error.
func (t Template) render(value func(Expression) (any, error)) (any, error) {
	var b strings.Builder
	for n, e := range t.expressions {
		b.WriteString(t.literalTexts[n])
		v, err := value(e)
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
