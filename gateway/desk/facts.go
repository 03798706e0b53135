package desk

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"processidea/client"
	"processidea/model/jsonval"
)

// fact is a value, with its name, as it is read.
type fact struct {
	Name   string
	Text   string
	Number bool
	Block  bool   // the text has lines, or is long
	From   string // where the value comes from; empty: it is not known
	Facts  []fact
	Left   int // members or items that are not shown
}

// How much of values a page shows.
const (
	mostFacts    = 400
	longestText  = 20_000 // bytes of one text
	longestTexts = 300_000
	blockLength  = 120 // characters from which a text has a block of its own
)

// teller makes facts of values until there are too many.
type teller struct {
	left, bytes int
	from        func(name, path string, v any) string // nil: nothing is known
}

func newTeller() *teller { return &teller{left: mostFacts, bytes: longestTexts} }

func (t *teller) tell(name, path string, v any) fact {
	t.left--
	f := fact{Name: visible(clip(name, cellLength))}
	if t.from != nil {
		f.From = t.from(name, path, v)
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			f.Text = "nothing"
		}
		for _, k := range jsonval.SortedKeys(v) {
			if t.left <= 0 {
				f.Left++
				continue
			}
			f.Facts = append(f.Facts, t.tell(k, path+"."+k, v[k]))
		}
	case []any:
		if len(v) == 0 {
			f.Text = "an empty list"
		}
		for n, one := range v {
			if t.left <= 0 {
				f.Left = len(v) - n
				break
			}
			f.Facts = append(f.Facts, t.tell(fmt.Sprint(n+1), fmt.Sprintf("%s[%d]", path, n), one))
		}
	default:
		f.Text, f.Number, f.Block = t.text(v), isNumber(v), false
		f.Block = strings.Contains(f.Text, "\n") || utf8.RuneCountInString(f.Text) > blockLength
	}
	return f
}

func (t *teller) text(v any) string {
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
		text := clip(v, max(min(longestText, t.bytes), cellLength))
		t.bytes -= len(text)
		return visible(text)
	}
	return string(jsonval.Encode(v))
}

// origins tells where values of a Call's parameters come from: what the Tool's designer wired, and values that stand in the case too.
func origins(wired map[string]string, a client.Approval) func(name, path string, v any) string {
	places := map[string]string{}
	collectPlaces(places, "†input", a.Input, 0)
	collectPlaces(places, "†state", a.State, 0)
	return func(name, path string, v any) string {
		if ref, is := wired[name]; is && path == "."+name {
			return "always " + visible(clip(ref, cellLength)) + ", which the Tool's designer wired"
		}
		if key, is := placeKey(v); is && strings.TrimSpace(places[key]) != "" {
			return "the same as " + places[key]
		}
		return ""
	}
}

const severalPlaces = " "

// collectPlaces notes at which place each value stands; one that stands at several is no sign of where another came from.
func collectPlaces(places map[string]string, at string, v any, depth int) {
	const mostPlaces, deepest = 2000, 6
	if len(places) > mostPlaces || depth > deepest {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range jsonval.SortedKeys(v) {
			collectPlaces(places, at+"."+clip(visible(k), cellLength), v[k], depth+1)
		}
	case []any:
		for n, one := range v {
			collectPlaces(places, fmt.Sprintf("%s[%d]", at, n), one, depth+1)
		}
	}
	if key, is := placeKey(v); is {
		if places[key] != "" {
			at = severalPlaces
		}
		places[key] = at
	}
}

// placeKey is the same for equal values that are telling: a short text or a digit stands anywhere.
func placeKey(v any) (key string, is bool) {
	switch v := v.(type) {
	case string:
		return "s" + v, len(v) > 2 && len(v) < longestText
	case json.Number:
		return "n" + v.String(), len(v) > 1
	}
	return "", false
}
