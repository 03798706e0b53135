package shown

import (
	"fmt"
	"math/big"
	"strings"
)

// textsByLanguage holds all texts of this package, by language. A noun that is counted has its singular and its plural.
var textsByLanguage = map[Language]map[string]string{
	English: {
		"yes": "yes", "no": "no", "empty": "an empty text", "null": "not given", "none": "none",
		"and":  "%s and %d more",
		"date": "%[1]d %[2]s %[3]d", "at": "%s, %s",
		"months": "January February March April May June July August September October November December",
		"day":    "day days", "hour": "hour hours", "minute": "minute minutes", "second": "second seconds",
		"value": "value values",
	},
	German: {
		"yes": "ja", "no": "nein", "empty": "ein leerer Text", "null": "nicht angegeben", "none": "keine",
		"and":  "%s und %d weitere",
		"date": "%[1]d. %[2]s %[3]d", "at": "%s, %s Uhr",
		"months": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
		"day":    "Tag Tage", "hour": "Stunde Stunden", "minute": "Minute Minuten", "second": "Sekunde Sekunden",
		"value": "Wert Werte",
	},
}

func (l Language) translate(key string, args ...any) string {
	text, isKnown := textsByLanguage[l][key]
	if !isKnown {
		text = textsByLanguage[English][key]
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// countText is a number with its noun.
func (l Language) countText(n int64, noun string) string {
	singular, plural, _ := strings.Cut(l.translate(noun), " ")
	if n == 1 {
		return "1 " + singular
	}
	return decimal{big.NewRat(n, 1)}.groupedText(l, 0) + " " + plural
}

func (l Language) monthName(n int) string { return strings.Fields(l.translate("months"))[n-1] }

// ProcessTitleOf is what people call processes whose Idea has this path: its last part, as a title.
func ProcessTitleOf(processPath string) string {
	return titleFromName(processPath[strings.LastIndex(processPath, "/")+1:])
}

// titleFromName makes a title for a name in a schema that has none: orderNumber becomes Order number.
func titleFromName(name string) string {
	var b strings.Builder
	var previous rune
	for _, r := range name {
		isUpper := r >= 'A' && r <= 'Z'
		switch {
		case r == '_' || r == '-' || r == ' ':
			r = ' '
		case isUpper && previous >= 'a' && previous <= 'z':
			b.WriteRune(' ')
			r += 'a' - 'A'
		}
		if b.Len() == 0 {
			r = []rune(strings.ToUpper(string(r)))[0]
		}
		b.WriteRune(r)
		previous = r
		if isUpper {
			previous = 'A'
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
