package shown_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"processidea/model/ideafile/shown"
	"processidea/model/modeltest"
)

func formatOf(schema string) shown.Format {
	s := modeltest.MustDecodeJSON(schema)
	return shown.FormatOf(s, s)
}

const priced = `{"anyOf": [{"type": "null"}, {"items": {"properties": {"q": {"_display": "hidden"},
	"p": {"title": "Price", "_display": "money", "currency": "USD", "minorUnits": true},
	"in": {"properties": {"q": {"_display": "hidden"}}}}}}]}`

func TestAValueIsShownAsItsSchemaSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, value, english, german string }{
		{`{"_display": "money", "currency": "EUR", "minorUnits": true}`, `229900`, "2,299.00 EUR", "2.299,00 EUR"},
		{`{"_display": "money", "currency": "EUR", "minorUnits": true}`, `-5`, "-0.05 EUR", "-0,05 EUR"},
		{`{"_display": "money", "currency": "EUR", "minorUnits": true}`, `12.5`, "0.125 EUR", "0,125 EUR"},
		{`{"_display": "money", "currency": "eur"}`, `"2299.5"`, "2,299.50 EUR", "2.299,50 EUR"},
		{`{"_display": "money", "currency": "EUR"}`, `0.005`, "0.005 EUR", "0,005 EUR"},
		{`{"_display": "money", "currency": "JPY", "minorUnits": true}`, `1234567`, "1,234,567 JPY", "1.234.567 JPY"},
		{`{"_display": "money", "currency": "BHD", "minorUnits": true}`, `1`, "0.001 BHD", "0,001 BHD"},
		{`{"_display": "money"}`, `1e3`, "1e3", "1e3"},
		{`{"_display": "money", "currency": "EUR"}`, `123456789012345678901234567890.12`,
			"123,456,789,012,345,678,901,234,567,890.12 EUR",
			"123.456.789.012.345.678.901.234.567.890,12 EUR"},
		{`{"_display": "money", "currency": "EUR"}`, `"about 5"`, "about 5", "about 5"},
		{`{"_display": "percent"}`, `0.255`, "25.5%", "25,5\u00a0%"},
		{`{"_display": "percent"}`, `1`, "100%", "100\u00a0%"},
		{`{"_display": "date"}`, `"2026-11-28"`, "28 November 2026", "28. November 2026"},
		{`{"_display": "date"}`, `"2026-11-28T09:14:00Z"`, "2026-11-28T09:14:00Z", "2026-11-28T09:14:00Z"},
		{`{"_display": "datetime"}`, `"2026-03-01T09:14:00Z"`, "1 March 2026, 09:14 UTC",
			"1. März 2026, 09:14 Uhr UTC"},
		{`{"_display": "datetime"}`, `"2026-03-01T09:14:07+02:00"`, "1 March 2026, 09:14:07 +02:00",
			"1. März 2026, 09:14:07 Uhr +02:00"},
		{`{"_display": "duration"}`, `"73h0m5s"`, "3 days 1 hour 5 seconds", "3 Tage 1 Stunde 5 Sekunden"},
		{`{"_display": "duration"}`, `90`, "1 minute 30 seconds", "1 Minute 30 Sekunden"},
		{`{"_display": "duration"}`, `"soon"`, "soon", "soon"},
		{`{"_display": "text"}`, `"<b>\nمريم</b>"`, "<b>\nمريم</b>", "<b>\nمريم</b>"},
		{`{"_display": "nonsense"}`, `12`, "12", "12"},
		{`{}`, `true`, "yes", "ja"},
		{`{}`, `null`, "not given", "nicht angegeben"},
		{`{}`, `""`, "an empty text", "ein leerer Text"},
		{`{}`, `["a", 1]`, "a, 1", "a, 1"},
		{`{}`, `[{"a": 1}, 2]`, "2 values", "2 Werte"},
		{`{"items": {"_display": "money", "currency": "EUR", "minorUnits": true}}`, `[1999, 5]`, "19.99 EUR, 0.05 EUR",
			"19,99 EUR, 0,05 EUR"},
		{priced, `[{"p": 1999, "q": "x", "in": {"q": "x"}}, {"n": 2}]`, "In: 1 value, Price: 19.99 USD; N: 2",
			"In: 1 Wert, Price: 19,99 USD; N: 2"},
		{priced, `[{}, {"p": 1}, {"p": 2}, {"p": 3}]`, "4 values", "4 Werte"},
		{`{"items": {"_display": "hidden"}}`, `["x"]`, "1 value", "1 Wert"},
		{`{"$ref": "#/$defs/m", "$defs": {"m": {"anyOf": [{"type": "null"}, {"type": "number", "_display": "money", "currency": "USD"}]}}}`,
			`1.5`, "1.50 USD", "1,50 USD"},
	} {
		f, v := formatOf(c.schema), modeltest.MustDecodeJSON(c.value)
		if got := f.Text(v, shown.English); got != c.english {
			t.Errorf("%s of %s: %q, want %q", c.value, c.schema, got, c.english)
		}
		if got := f.Text(v, shown.German); got != c.german {
			t.Errorf("%s of %s in German: %q, want %q", c.value, c.schema, got, c.german)
		}
	}
}

func TestANumberIsEnteredAsPeopleTypeIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, value, entered string }{
		{`{"_display": "money", "currency": "EUR", "minorUnits": true}`, `229900`, "2299"},
		{`{"_display": "money", "currency": "EUR", "minorUnits": true}`, `5`, "0.05"},
		{`{"_display": "money", "currency": "JPY", "minorUnits": true}`, `70`, "70"},
		{`{"_display": "money", "currency": "EUR"}`, `12.5`, "12.5"},
		{`{}`, `9007199254740993`, "9007199254740993"},
		{`{"_display": "percent"}`, `-0.25`, "-25"},
		{`{"_display": "percent"}`, `0.1505`, "15.05"},
	} {
		f := formatOf(c.schema)
		if got := f.TypedNumberText(json.Number(c.value), shown.English); got != c.entered {
			t.Errorf("%s of %s is entered as %q, want %q", c.value, c.schema, got, c.entered)
		}
		if back, problem := f.ParseTypedNumber(c.entered, shown.English); problem != "" || back.String() != c.value {
			t.Errorf("%q is read as %s, want %s", c.entered, back, c.value)
		}
	}
	for _, text := range []string{"", "a lot", "1,5", "NaN", "1e9"} {
		if n, problem := formatOf(`{}`).ParseTypedNumber(text, shown.English); problem == "" {
			t.Errorf("%q is read as %s", text, n)
		}
	}
}

func TestMoneyIsReadInItsCurrencyToTheDigit(t *testing.T) {
	t.Parallel()
	const more, none = "at most", "write it like"
	for _, c := range []struct{ currency, text, english, german string }{
		{"EUR", "1234.59", "123459", none}, {"EUR", "1,234.59 EUR", "123459", none}, {"EUR", "1.234,59", none, "123459"},
		{"EUR", " -0,05", none, "-5"}, {"EUR", "12345678901234567890", "1234567890123456789000", "1234567890123456789000"},
		{"EUR", "1,234", "123400", more}, {"EUR", "1,23", none, "123"}, {"EUR", "12,34,567", none, none},
		{"EUR", "0.001", more, none}, {"EUR", "5.500", "550", "550000"}, {"EUR", "", none, none}, {"EUR", "1e3", none, none},
		{"EUR", "1'000", none, none}, {"EUR", "NaN", none, none}, {"JPY", "1,234", "1234", more}, {"JPY", "0.5", more, none},
		{"BHD", "0.001", "1", none}, {"EUR", strings.Repeat("9", 1001), none, none},
	} {
		f := formatOf(`{"_display": "money", "minorUnits": true, "currency": "` + c.currency + `"}`)
		for language, want := range map[shown.Language]string{shown.English: c.english, shown.German: c.german} {
			n, problem := f.ParseTypedNumber(c.text, language)
			if n.String() != want && !strings.Contains(problem, want) {
				t.Errorf("%q of %s in %s: %q %s, want %q", c.text, c.currency, language, n, problem, want)
			}
			if back, _ := f.ParseTypedNumber(f.TypedNumberText(n, language), language); problem == "" && back != n {
				t.Errorf("%s of %s in %s comes back as %s", n, c.currency, language, back)
			}
		}
	}
	if _, problem := formatOf(`{"_display": "money", "currency": "EUR"}`).ParseTypedNumber("x",
		shown.German); !strings.HasSuffix(
		problem, "1.234,59 EUR") {
		t.Error(problem)
	}
}

func TestAShareIsReadInPercent(t *testing.T) {
	t.Parallel()
	f := formatOf(`{"_display": "percent"}`)
	for text, want := range map[string]string{"15": "0.15", " 15 %": "0.15", "12,5\u00a0%": "0.125", "1.000": "10"} {
		if n, problem := f.ParseTypedNumber(text, shown.German); n.String() != want {
			t.Errorf("%q is %s %s, want %s", text, n, problem, want)
		}
	}
	if _, problem := f.ParseTypedNumber("a lot", shown.German); !strings.HasSuffix(problem,
		"write it like 12,5\u00a0%") {
		t.Error(problem)
	}
}

func TestADurationIsTypedInWords(t *testing.T) {
	t.Parallel()
	f := formatOf(`{"_display": "duration"}`)
	for text, want := range map[string]string{"2 days": "172800", "2 Tage 12 stunden": "216000", "1.5 days": "129600",
		"90": "90", "0.5": "0.5", "1 second": "1"} {
		n, problem := f.ParseTypedNumber(text, shown.German)
		if n.String() != want {
			t.Errorf("%q is %s %s, want %s", text, n, problem, want)
		}
		if back, _ := f.ParseTypedNumber(f.TypedNumberText(n, shown.German), shown.German); back != n {
			t.Errorf("%s comes back as %s", n, back)
		}
	}
	for _, text := range []string{"", "days", "2 days 3", "two days", "2 weeks"} {
		if n, problem := f.ParseTypedNumber(text, shown.English); !strings.HasSuffix(problem, "like 2 days 12 hours") {
			t.Errorf("%q is %s %s", text, n, problem)
		}
	}
}

func TestMoneyIsAddedUpToTheDigit(t *testing.T) {
	t.Parallel()
	in := func(schema string, values ...any) (list []*shown.Field) {
		for _, v := range values {
			list = append(list, &shown.Field{Value: v, Format: formatOf(schema)})
		}
		return list
	}
	const euros, cents = `{"_display": "money", "currency": "EUR"}`, `{"_display": "money", "currency": "EUR", "minorUnits": true}`
	five, hundred := in(euros, json.Number("5")), in(cents, json.Number("10000"))
	for _, one := range []struct {
		fields []*shown.Field
		want   string
	}{
		{in(euros, json.Number("0.1"), json.Number("0.2"), "99999999999999999999.70", json.Number("-0.001")),
			"99,999,999,999,999,999,999.999 EUR"},
		{in(euros, json.Number("1"), json.Number("-1.50")), "-0.50 EUR"},
		{in(euros, json.Number("1"), "a lot"), ""},
		{five, ""}, // one amount is no sum
		{append(five, hundred...), "105.00 EUR"},
		{append(hundred, five...), "105.00 EUR"},
		{append(five, in(`{"_display": "money", "currency": "USD"}`, json.Number("5"))...), ""},
		{append(five, nil), ""},
	} {
		if got := shown.SumText(one.fields, shown.English); got != one.want {
			t.Errorf("the sum is %q, want %q", got, one.want)
		}
	}
	if got := hundred[0].Format.MultipleText(json.Number("33"), 3, shown.English); got != "0.99 EUR" {
		t.Errorf("three times 0.33 EUR is %q", got)
	}
	if got := five[0].Format.MultipleText("a lot", 3, shown.English); got != "" {
		t.Errorf("three times a lot is %q", got)
	}
	ordered := slices.Concat(in(euros, "?", json.Number("-1")), five, in(euros, json.Number("9.5"), json.Number("10")), hundred,
		in(euros, json.Number("101")))
	for n := range ordered[1:] {
		if shown.CompareAmounts(*ordered[n], *ordered[n+1]) >= 0 {
			t.Errorf("%v is not before %v", ordered[n].Value, ordered[n+1].Value)
		}
	}
}

func TestReadersHaveTheLanguageThatTheyPreferMost(t *testing.T) {
	t.Parallel()
	for preferred, want := range map[string]shown.Language{
		"": "en", "de": "de", "de-AT,en;q=0.5": "de", "fr, de;q=0.3, en;q=0.8": "en", "de_DE.UTF-8": "de", "C": "en",
		"en_US.UTF-8": "en", "ja": "en",
		strings.Repeat("x", 5000): "en",
	} {
		if got := shown.LanguageFor(preferred); got != want {
			t.Errorf("%.40s: %s, want %s", preferred, got, want)
		}
	}
}
