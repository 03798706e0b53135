package wording

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// templateTokenPattern is an action, a tag or a text of a template.
	templateTokenPattern = regexp.MustCompile(`(?s)\{\{.*?\}\}|<(?:\{\{.*?\}\}|[^<>])*?>|[^<{]+|.`)
	// inlineTagPattern matches the tags within a sentence, and sentenceEndActionPattern the actions that end a
	// sentence.
	inlineTagPattern         = regexp.MustCompile(`^</?(a|b|bdi|code|mark|q|small|span|time)\b`)
	sentenceEndActionPattern = regexp.MustCompile(`^\{\{-?\s*(/\*|if|else|end|range|with|define|\$\w+(, \$\w+)* :?=)`)
	// translatableAttrPattern are the attributes that people read.
	translatableAttrPattern = regexp.MustCompile(`(?s) (alt|aria-label|data-label|title)="(?:\{\{.*?\}\}|[^"])*"`)
)

// TranslateTemplate translates the texts of a template. translate translates a sentence, in which {1} stands for the
// first tag or action.
func TranslateTemplate(source string, translate func(string) string) string {
	var out strings.Builder
	var sentence []string
	for _, p := range templateTokenPattern.FindAllString(source, -1) {
		if p[0] == '<' {
			p = translatableAttrPattern.ReplaceAllStringFunc(p, func(attribute string) string {
				name, value, _ := strings.Cut(attribute, `"`)
				return name + `"` + TranslateTemplate(strings.TrimSuffix(value, `"`), translate) + `"`
			})
		}
		if sentenceEndActionPattern.MatchString(p) || p[0] == '<' && !inlineTagPattern.MatchString(p) {
			out.WriteString(translateSentence(sentence, translate) + p)
			sentence = nil
		} else {
			sentence = append(sentence, p)
		}
	}
	out.WriteString(translateSentence(sentence, translate))
	return out.String()
}

// isVisibleText reports whether a piece is a text that people read, and not part of an attribute, such as the end of an
// id.
func isVisibleText(piece string) bool {
	return piece[0] != '<' && !isAction(piece) && !strings.Contains(piece, `="`) && letterPattern.MatchString(piece)
}

func isAction(piece string) bool { return strings.HasPrefix(piece, "{{") }

var letterPattern = regexp.MustCompile(`(^|[^-\pL])\pL`)

// translateSentence translates one sentence. Tags and signs around the sentence do not belong to it.
func translateSentence(pieces []string, translate func(string) string) string {
	firstIndex := slices.IndexFunc(pieces, isVisibleText)
	if firstIndex < 0 {
		return strings.Join(pieces, "")
	}
	endIndex := len(pieces)
	for !isVisibleText(pieces[endIndex-1]) {
		endIndex--
	}
	if slices.ContainsFunc(pieces[:firstIndex], isAction) {
		firstIndex = 0
	}
	if slices.ContainsFunc(pieces[endIndex:], isAction) {
		endIndex = len(pieces)
	}
	var key, value string
	var values []string
	for _, p := range append(slices.Clone(pieces[firstIndex:endIndex]), "") {
		if p != "" && !isVisibleText(p) {
			value += p
			continue
		}
		if inner := strings.TrimSpace(value); value != "" {
			values = append(values, inner)
			key += strings.Replace(value, inner, fmt.Sprintf("{%d}", len(values)), 1)
		}
		key, value = key+p, ""
	}
	text := strings.TrimSpace(key)
	translated := placeholderPattern.ReplaceAllStringFunc(translate(strings.Join(strings.Fields(text), " ")),
		func(m string) string {
			n, _ := strconv.Atoi(strings.Trim(m, "{}"))
			return values[n-1]
		})
	return strings.Join(pieces[:firstIndex], "") + strings.Replace(key, text, translated, 1) +
		strings.Join(pieces[endIndex:], "")
}
