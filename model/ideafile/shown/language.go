package shown

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"processidea/model/jsonval"
)

// Language is a language of texts for people.
type Language string

// The languages.
const (
	English Language = "en"
	German  Language = "de"
)

// Languages lists the languages: a reader gets the first if none fits.
var Languages = []Language{English, German}

var languageMatcher = language.NewMatcher(jsonval.Map(Languages, func(l Language) language.Tag {
	return language.Make(string(l))
}))

// LanguageFor returns the language for a reader's preferences, in the form of Accept-Language or LANG; English if none
// fits.
func LanguageFor(preferences string) Language {
	preferences, _, _ = strings.Cut(preferences, "@")
	if localeName, _, isLocale := strings.Cut(preferences, "."); isLocale && !strings.ContainsAny(preferences, ",;") {
		preferences = strings.ReplaceAll(localeName, "_", "-") // de_DE.UTF-8
	}
	tags, _, err := language.ParseAcceptLanguage(preferences)
	if err != nil {
		return English
	}
	_, n, _ := languageMatcher.Match(tags...)
	return Languages[n]
}

// numberSigns are how a language writes numbers.
type numberSigns struct {
	groupSign, decimalPoint, percentSign string
	typedAmountPattern                   *regexp.Regexp // of money that people type
}

// numberSignsOf derives the signs from how the library writes a sample number. The library cannot write the values
// themselves, since it would make floats of them.
func numberSignsOf(l Language) numberSigns {
	p := message.NewPrinter(language.Make(string(l)))
	text := p.Sprint(number.Decimal(1000, number.Scale(1))) // 1,000.0
	group, rest, _ := strings.Cut(strings.TrimPrefix(text, "1"), "000")
	point := strings.TrimSuffix(rest, "0")
	amountPattern := fmt.Sprintf(`^-?([0-9]+|[1-9][0-9]{0,2}(%s[0-9]{3})+)(%s[0-9]+)?$`, regexp.QuoteMeta(group),
		regexp.QuoteMeta(point))
	return numberSigns{group, point, strings.TrimPrefix(p.Sprint(number.Percent(1)), "100"),
		regexp.MustCompile(amountPattern)}
}

var numberSignsByLanguage = map[Language]numberSigns{English: numberSignsOf(English), German: numberSignsOf(German)}
