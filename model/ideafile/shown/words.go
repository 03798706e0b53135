package shown

import (
	"fmt"
	"math/big"
	"strings"
)

// catalogue holds all texts of this package, by language. A noun that is counted has its singular and its plural.
var catalogue = map[Language]map[string]string{
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

func (l Language) say(key string, args ...any) string {
	text, known := catalogue[l][key]
	if !known {
		text = catalogue[English][key]
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// count is a number with its noun.
func (l Language) count(n int64, noun string) string {
	one, others, _ := strings.Cut(l.say(noun), " ")
	if n == 1 {
		return "1 " + one
	}
	return decimal{big.NewRat(n, 1)}.text(l, 0) + " " + others
}

func (l Language) month(n int) string { return strings.Fields(l.say("months"))[n-1] }

// titleFromName makes a title for a name in a schema that has none: orderNumber becomes Order number.
func titleFromName(name string) string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		isUpper := r >= 'A' && r <= 'Z'
		switch {
		case r == '_' || r == '-' || r == ' ':
			r = ' '
		case isUpper && before >= 'a' && before <= 'z':
			b.WriteRune(' ')
			r += 'a' - 'A'
		}
		if b.Len() == 0 {
			r = []rune(strings.ToUpper(string(r)))[0]
		}
		b.WriteRune(r)
		before = r
		if isUpper {
			before = 'A'
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
