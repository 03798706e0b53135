package wording

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"processidea/model/ideafile/shown"
)

//go:embed *.json
var catalogueFiles embed.FS

// Catalogue maps English texts to those of a language. The English catalogue has the desk's own wording of texts that
// it shares with the command line.
//
// In a text {1} stands for the first value, with the number signs of the language; {1:} for a value that is translated
// too; {1:time} for one that is translated as "time: …"; {1:id} for one that looks like a number and is none. In the
// English, {1:n} matches only a number. A text so short that data could read like it, such as "{1} of {2}", has its
// kind before it in the catalogue, as in "time: …", and is found only as that kind.
type Catalogue struct {
	translationBySentence, translationByText map[string]string
	patterns                                 []pattern // the longest fixed text first
}

type pattern struct {
	regex                *regexp.Regexp
	fixedStart, fixedEnd string // the fixed text before the first value and after the last
	translation          string
	fixedLength          int // the length of all fixed text
}

// CatalogueFor gives the catalogue of a language.
func CatalogueFor(l shown.Language) (*Catalogue, error) {
	var raw struct{ Pages, Texts map[string]string }
	data, err := catalogueFiles.ReadFile(string(l) + ".json")
	if err == nil {
		err = json.Unmarshal(data, &raw)
	}
	if err != nil {
		return nil, fmt.Errorf("wording: read the catalogue of %s: %w", l, err)
	}
	c := &Catalogue{translationBySentence: raw.Pages, translationByText: raw.Texts}
	for english, text := range raw.Texts {
		fixedParts := placeholderPattern.Split(english, -1)
		if len(fixedParts) > 1 {
			expression := "(?s)^" + regexp.QuoteMeta(fixedParts[0])
			for n, placeholder := range placeholderPattern.FindAllString(english, -1) {
				valuePattern := "(.+?)"
				if strings.HasSuffix(placeholder, ":n}") {
					valuePattern = `([\d,]+)`
				}
				expression += valuePattern + regexp.QuoteMeta(fixedParts[n+1])
			}
			regex := regexp.MustCompile(expression + "$")
			fixedLength := len(strings.Join(fixedParts, ""))
			// it comes first: its value may match another pattern
			if nestedTextPrefixPattern.MatchString(fixedParts[0]) {
				fixedLength += 1000
			}
			c.patterns = append(c.patterns, pattern{regex, fixedParts[0], fixedParts[len(fixedParts)-1], text,
				fixedLength})
		}
	}
	slices.SortFunc(c.patterns, func(a, b pattern) int {
		return cmp.Or(b.fixedLength-a.fixedLength, strings.Compare(a.regex.String(), b.regex.String()))
	})
	return c, nil
}

// nestedTextPrefixPattern matches the beginning of a text that contains another text, such as "It was refused: {1}".
var nestedTextPrefixPattern = regexp.MustCompile(`^[A-Z].* .*: $`)

// placeholderPattern matches the place of a value in a text.
var placeholderPattern = regexp.MustCompile(`\{(\d+)(:\w*)?\}`)

// TranslateSentence translates a sentence of a template.
func (c *Catalogue) TranslateSentence(english string) string {
	return cmp.Or(c.translationBySentence[english], english)
}

// Translate translates a text.
func (c *Catalogue) Translate(text string) string { return c.TranslateAs("", text) }

// TranslateAs translates a text of a kind, which stands before the text in the catalogue.
func (c *Catalogue) TranslateAs(textKind, text string) string {
	key := text
	if textKind != "" {
		key = textKind + ": " + text
	}
	if translated := cmp.Or(c.translationByText[key], c.translationBySentence[key]); translated != "" {
		return translated
	}
	for _, p := range c.patterns {
		if !strings.HasPrefix(key, p.fixedStart) || !strings.HasSuffix(key, p.fixedEnd) {
			continue
		}
		if values := p.regex.FindStringSubmatch(key); values != nil {
			return c.fillPlaceholders(p.translation, values)
		}
	}
	return text
}

// fillPlaceholders puts values into the places of a text.
func (c *Catalogue) fillPlaceholders(translation string, values []string) string {
	return placeholderPattern.ReplaceAllStringFunc(translation, func(placeholder string) string {
		match := placeholderPattern.FindStringSubmatch(placeholder)
		n, _ := strconv.Atoi(match[1])
		if match[2] != "" {
			return c.TranslateAs(match[2][1:], values[n])
		}
		return c.FormatNumber(values[n])
	})
}

var englishNumberPattern = regexp.MustCompile(`^\d{1,3}(,\d{3})+$|^\d+\.\d$`)

// FormatNumber writes a number that English has written as 1,234 or 1.5.
func (c *Catalogue) FormatNumber(text string) string {
	sampleNumber := c.translationByText["1,234.5"]
	if sampleNumber == "" || !englishNumberPattern.MatchString(text) {
		return text
	}
	return strings.NewReplacer(",", sampleNumber[1:2], ".", sampleNumber[5:6]).Replace(text)
}
