package readable

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// Fact is a value, with its name, as it is read.
type Fact struct {
	Name   string
	Text   string
	Number bool
	Block  bool   // the text has lines, or is long
	From   string // where the value comes from; empty: it is not known, or is said of what it is part of
	Facts  []Fact
	Left   int // members or items that are not shown
	// Letter is a text with what came from data marked; Href leads to what the text is the address of.
	Letter shown.Parts
	Href   string
	Folded bool // there are so many below it that they are shown when they are asked for
}

// How much of values a page shows.
const (
	MostFacts    = 400
	LongestText  = 20_000 // bytes of one text
	longestTexts = 300_000
	blockLength  = 120 // characters from which a text has a block of its own
	foldedFrom   = 12  // members or items from which what lies below the first level is folded
	// CellLength is in characters of what stands in a cell of a table.
	CellLength = 120
)

// Teller makes facts of values until there are too many.
type Teller struct {
	Left, Bytes int                                   // how many facts, and bytes of text, are still told
	From        func(path jsonval.Path, v any) string // where a value comes from; nil: nothing is known
}

// NewTeller gives one for a page.
func NewTeller() *Teller { return &Teller{Left: MostFacts, Bytes: longestTexts} }

// Tell makes a fact of a value.
func (t *Teller) Tell(name string, v any) Fact { return t.tell(name, nil, "", v) }

// TellAt is Tell for a value at a path.
func (t *Teller) TellAt(path jsonval.Path, name string, v any) Fact { return t.tell(name, path, "", v) }

func (t *Teller) tell(name string, path jsonval.Path, said string, v any) Fact {
	t.Left--
	f := Fact{Name: Visible(Clip(name, CellLength))}
	if t.From != nil {
		if from := t.From(path, v); from != "" && from != said {
			f.From, said = from, from
		}
	}
	below := func(key, name string, v any) {
		f.Facts = append(f.Facts, t.tell(name, append(slices.Clip(path), key), said, v))
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			f.Text = "nothing"
		}
		f.Folded = len(path) > 0 && len(v) >= foldedFrom
		for n, k := range jsonval.SortedKeys(v) {
			if t.Left <= 0 {
				f.Left = len(v) - n
				break
			}
			below(k, k, v[k])
		}
	case []any:
		if len(v) == 0 {
			f.Text = "an empty list"
		}
		f.Folded = len(path) > 0 && len(v) >= foldedFrom
		for n, one := range v {
			if t.Left <= 0 {
				f.Left = len(v) - n
				break
			}
			below(fmt.Sprint(n), fmt.Sprint(n+1), one)
		}
	default:
		f.Text, f.Number = t.text(v), IsNumber(v)
		f.Block = strings.Contains(f.Text, "\n") || utf8.RuneCountInString(f.Text) > blockLength
	}
	return f
}
func (t *Teller) text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		if v {
			return "yes (true)"
		}
		return "no (false)"
	case json.Number:
		return v.String()
	case string:
		if v == "" {
			return "an empty text"
		}
		text := Clip(v, max(min(LongestText, t.Bytes), CellLength))
		t.Bytes -= len(text)
		return Visible(text)
	}
	return string(jsonval.Encode(v))
}
