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
var files embed.FS

// Catalogue maps English texts to those of a language. The English catalogue has the desk's own wording of texts that
// it shares with the command line.
//
// In a text {1} stands for the first value, with the number signs of the language; {1:} for a value that is translated
// too; {1:time} for one that is translated as "time: …"; {1:id} for one that looks like a number and is none. In the
// English, {1:n} matches only a number. A text so short that data could read like it, such as "{1} of {2}", has its
// kind before it in the catalogue, as in "time: …", and is found only as that kind.
type Catalogue struct {
	pages, texts map[string]string
	patterns     []pattern // the longest fixed text first
}

type pattern struct {
	english    *regexp.Regexp
	start, end string // the fixed text before the first value and after the last
	text       string
	words      int // the length of all fixed text
}

// For gives the catalogue of a language.
func For(l shown.Language) (*Catalogue, error) {
	var read struct{ Pages, Texts map[string]string }
	data, err := files.ReadFile(string(l) + ".json")
	if err == nil {
		err = json.Unmarshal(data, &read)
	}
	if err != nil {
		return nil, fmt.Errorf("wording: read the catalogue of %s: %w", l, err)
	}
	c := &Catalogue{pages: read.Pages, texts: read.Texts}
	for english, text := range read.Texts {
		fixed := place.Split(english, -1)
		if len(fixed) > 1 {
			form := "(?s)^" + regexp.QuoteMeta(fixed[0])
			for n, at := range place.FindAllString(english, -1) {
				value := "(.+?)"
				if strings.HasSuffix(at, ":n}") {
					value = `([\d,]+)`
				}
				form += value + regexp.QuoteMeta(fixed[n+1])
			}
			is := regexp.MustCompile(form + "$")
			words := len(strings.Join(fixed, ""))
			if nestingPattern.MatchString(fixed[0]) { // it comes first: its value may match another pattern
				words += 1000
			}
			c.patterns = append(c.patterns, pattern{is, fixed[0], fixed[len(fixed)-1], text, words})
		}
	}
	slices.SortFunc(c.patterns, func(a, b pattern) int {
		return cmp.Or(b.words-a.words, strings.Compare(a.english.String(), b.english.String()))
	})
	return c, nil
}

// nestingPattern matches the beginning of a text that contains another text, such as "It was refused: {1}".
var nestingPattern = regexp.MustCompile(`^[A-Z].* .*: $`)

// place matches the place of a value in a text.
var place = regexp.MustCompile(`\{(\d+)(:\w*)?\}`)

// Sentence translates a sentence of a template.
func (c *Catalogue) Sentence(english string) string { return cmp.Or(c.pages[english], english) }

// Say translates a text.
func (c *Catalogue) Say(text string) string { return c.InContext("", text) }

// InContext translates a text of a kind, which stands before the text in the catalogue.
func (c *Catalogue) InContext(kind, text string) string {
	key := text
	if kind != "" {
		key = kind + ": " + text
	}
	if translated := cmp.Or(c.texts[key], c.pages[key]); translated != "" {
		return translated
	}
	for _, p := range c.patterns {
		if !strings.HasPrefix(key, p.start) || !strings.HasSuffix(key, p.end) {
			continue
		}
		if values := p.english.FindStringSubmatch(key); values != nil {
			return c.fill(p.text, values)
		}
	}
	return text
}

// fill puts values into the places of a text.
func (c *Catalogue) fill(text string, values []string) string {
	return place.ReplaceAllStringFunc(text, func(at string) string {
		parts := place.FindStringSubmatch(at)
		n, _ := strconv.Atoi(parts[1])
		if parts[2] != "" {
			return c.InContext(parts[2][1:], values[n])
		}
		return c.Number(values[n])
	})
}

var written = regexp.MustCompile(`^\d{1,3}(,\d{3})+$|^\d+\.\d$`)

// Number writes a number that English has written as 1,234 or 1.5.
func (c *Catalogue) Number(text string) string {
	signs := c.texts["1,234.5"]
	if signs == "" || !written.MatchString(text) {
		return text
	}
	return strings.NewReplacer(",", signs[1:2], ".", signs[5:6]).Replace(text)
}
