package shown

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"processidea/model/jsonval"
)

// Text shows a value. One that does not fit the format is shown as it is.
func (f Format) Text(v any, l Language) string {
	switch f.Display {
	case Money:
		if d, ok := f.parseAmount(v); ok {
			return f.amountText(d, l)
		}
	case Percent:
		if d, ok := parseDecimal(v); ok {
			return d.shiftPoint(2).groupedText(l, 0) + numberSignsByLanguage[l].percentSign
		}
	case Date, DateTime:
		if text, ok := f.formatDate(jsonval.AsText(v), l); ok {
			return text
		}
	case Duration:
		if text, ok := durationText(v, l); ok {
			return text
		}
	case Text, Letter, Link, Image:
		if text, ok := v.(string); ok {
			return text
		}
	}
	switch v := v.(type) {
	case []any:
		return f.listText(v, l)
	case jsonval.Object:
		if f.Properties != nil && len(v) > 0 {
			return cmp.Or(f.membersText(v, l), l.countText(int64(len(v)), "value"))
		}
	}
	return plainText(v, l)
}

// parseAmount is money in whole units of its currency.
func (f Format) parseAmount(v any) (d decimal, ok bool) {
	if d, ok = parseDecimal(v); ok {
		d = d.shiftPoint(f.unitPointShift())
	}
	return d, ok && f.Display == Money
}

// HasUnit reports whether people type a number in a unit, as their language writes it: money in whole units of its
// currency, a share in percent, a duration in days, hours, minutes and seconds.
func (f Format) HasUnit() bool {
	return f.Display == Money || f.Display == Percent || f.Display == Duration
}

// Unit is the unit of a number that people type; empty: it has none, or stands in the text.
func (f Format) Unit() string {
	if f.Display == Percent {
		return "%"
	}
	return f.Currency
}

// unitPointShift is by how many digits the point of a value moves to the right in its unit.
func (f Format) unitPointShift() int {
	switch {
	case f.Display == Percent:
		return 2
	case f.UsesMinorUnits:
		return -currencyDecimalPlaces(f.Currency)
	}
	return 0
}

func (f Format) amountText(d decimal, l Language) string {
	return strings.TrimSpace(d.groupedText(l, currencyDecimalPlaces(f.Currency)) + " " + f.Currency)
}

// TypedNumberText returns a number as people type it, in its unit; "" if the value is no number.
func (f Format) TypedNumberText(v any, l Language) string {
	d, ok := parseDecimal(v)
	switch {
	case !ok:
		return ""
	case f.Display == Duration:
		text, _ := durationText(v, l)
		return cmp.Or(text, d.plainText()) // 0, and parts of a second, have no words
	case f.HasUnit():
		return strings.Replace(d.shiftPoint(f.unitPointShift()).plainText(), ".", numberSignsByLanguage[l].decimalPoint,
			1)
	}
	return d.plainText()
}

// maxTypedNumberBytes bounds a number that people type, in bytes.
const maxTypedNumberBytes = 1000

// ParseTypedNumber reads a number as people type it. problem is what is wrong with the text; empty: nothing.
func (f Format) ParseTypedNumber(text string, l Language) (n json.Number, problem string) {
	text = strings.TrimSpace(text)
	if d, ok := parseDurationSeconds(text); ok && f.Display == Duration {
		return json.Number(d.plainText()), ""
	}
	if !f.HasUnit() {
		d, ok := parseDecimal(text)
		if !ok || len(text) > maxTypedNumberBytes {
			return "", "this is not a number: write it with digits and a point, such as 12.50"
		}
		return json.Number(d.plainText()), ""
	}
	s, scale := numberSignsByLanguage[l], currencyDecimalPlaces(f.Currency)
	text = strings.TrimSpace(strings.TrimSuffix(text, f.Unit()))
	if f.Display == Duration || len(text) > maxTypedNumberBytes || !s.typedAmountPattern.MatchString(text) {
		return "", f.typedNumberErrorText(l)
	}
	d, _ := parseDecimal(strings.NewReplacer(s.groupSign, "", s.decimalPoint, ".").Replace(text))
	if decimalPlaces, _ := d.FloatPrec(); decimalPlaces > scale && f.Currency != "" {
		return "", fmt.Sprintf("%s has at most %d digits after the point", f.Currency, scale)
	}
	return json.Number(d.shiftPoint(-f.unitPointShift()).plainText()), ""
}

// typedNumberErrorText says how to type a number in its unit.
func (f Format) typedNumberErrorText(l Language) string {
	switch f.Display {
	case Percent:
		return "this is not a percentage: write it like " + f.Text(json.Number("0.125"), l)
	case Duration:
		return "this is not a span of time: write it like " + f.Text(json.Number("216000"), l)
	}
	scale := currencyDecimalPlaces(f.Currency)
	return "this is not an amount: write it like " + f.amountText(decimal{big.NewRat(123459, 1)}.shiftPoint(-scale), l)
}

// SumText adds up two or more amounts of money, each by its own unit. It is "" for fewer amounts, or if one is not
// money, is not known yet, or has another currency.
func SumText(fields []*Field, l Language) string {
	sum := decimal{new(big.Rat)}
	for _, f := range fields {
		if f == nil || f.Format.Currency != fields[0].Format.Currency {
			return ""
		}
		d, isAmount := f.Format.parseAmount(f.Value)
		if !isAmount {
			return ""
		}
		sum.Add(sum.Rat, d.Rat)
	}
	if len(fields) < 2 {
		return ""
	}
	return fields[0].Format.amountText(sum, l)
}

// WholeAmounts gives amounts that have a sum as whole numbers, so that a script can add them up to the last digit. The
// point stands before their last decimalPlaces digits; shown are minDecimalPlaces of these at least.
func WholeAmounts(fields []*Field) (amounts []string, decimalPlaces, minDecimalPlaces int) {
	all := jsonval.Map(fields, func(f *Field) decimal {
		d, _ := f.Format.parseAmount(f.Value)
		return d
	})
	minDecimalPlaces = currencyDecimalPlaces(fields[0].Format.Currency)
	decimalPlaces = minDecimalPlaces
	for _, d := range all {
		n, _ := d.FloatPrec()
		decimalPlaces = max(decimalPlaces, n)
	}
	return jsonval.Map(all, func(d decimal) string { return d.shiftPoint(decimalPlaces).plainText() }), decimalPlaces,
		minDecimalPlaces
}

// MultipleText is n times an amount of money; "" if the value is none.
func (f Format) MultipleText(v any, n int, l Language) string {
	d, isAmount := f.parseAmount(v)
	if !isAmount {
		return ""
	}
	return f.amountText(decimal{d.Mul(d.Rat, big.NewRat(int64(n), 1))}, l)
}

// Number returns what a number is worth in its unit, to the last digit; nil: the value is none.
func (f Field) Number() *big.Rat {
	d, isNumber := parseDecimal(f.Value)
	if _, isText := f.Value.(string); !isNumber || isText && f.Format.Display != Money {
		return nil
	}
	return d.shiftPoint(f.Format.unitPointShift()).Rat
}

// CompareAmounts orders two amounts of one currency, each by its own unit; a value that is no amount is the least.
func CompareAmounts(a, b Field) int {
	x, isX := a.Format.parseAmount(a.Value)
	y, isY := b.Format.parseAmount(b.Value)
	switch {
	case isX && isY:
		return x.Cmp(y.Rat)
	case isX:
		return 1
	case isY:
		return -1
	}
	return 0
}

func (f Format) formatDate(text string, l Language) (string, bool) {
	dayText := func(t time.Time) string { return l.translate("date", t.Day(), l.monthName(int(t.Month())), t.Year()) }
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return dayText(t), true
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || f.Display == Date {
		return "", false
	}
	zone := t.Format("-07:00")
	if strings.HasSuffix(text, "Z") || strings.HasSuffix(text, "z") {
		zone = "UTC"
	}
	clock := t.Format("15:04")
	if t.Second() != 0 {
		clock = t.Format("15:04:05")
	}
	return l.translate("at", dayText(t), clock) + " " + zone, true
}

// durationUnits are the units in which people read and type durations, by the keys of their nouns.
var durationUnits = []struct {
	noun string
	of   time.Duration
}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}}

// parseDurationSeconds reads numbers with their units, such as "2 days 12 hours" in any of the languages, or a number
// of seconds alone, and returns the seconds.
func parseDurationSeconds(text string) (sum decimal, ok bool) {
	fields := strings.Fields(text)
	if len(fields) == 1 && len(text) <= maxTypedNumberBytes {
		return parseDecimal(text)
	}
	sum = decimal{new(big.Rat)}
	for n := 0; n+1 < len(fields); n += 2 {
		count, isNumber := parseDecimal(fields[n])
		seconds := unitSeconds(fields[n+1])
		if !isNumber || seconds == 0 || len(text) > maxTypedNumberBytes {
			return sum, false
		}
		sum.Add(sum.Rat, count.Mul(count.Rat, big.NewRat(seconds, 1)))
	}
	return sum, len(fields) > 0 && len(fields)%2 == 0
}

// unitSeconds is how long the unit with a noun is; 0: there is none.
func unitSeconds(noun string) int64 {
	for _, unit := range durationUnits {
		for _, l := range Languages {
			if slices.ContainsFunc(strings.Fields(l.translate(unit.noun)), func(name string) bool {
				return strings.EqualFold(name, noun)
			}) {
				return int64(unit.of / time.Second)
			}
		}
	}
	return 0
}

// durationText formats whole seconds as days, hours, minutes and seconds.
func durationText(v any, l Language) (string, bool) {
	d, err := jsonval.ReadDuration(v)
	if err != nil || d%time.Second != 0 {
		return "", false
	}
	var parts []string
	for _, unit := range durationUnits {
		if n := d / unit.of; n > 0 {
			parts = append(parts, l.countText(int64(n), unit.noun))
			d %= unit.of
		}
	}
	return strings.Join(parts, " "), true
}

// plainText formats a value without a display.
func plainText(v any, l Language) string {
	switch v := v.(type) {
	case nil:
		return l.translate("null")
	case bool:
		return l.translate(map[bool]string{true: "yes", false: "no"}[v])
	case string:
		if v == "" {
			return l.translate("empty")
		}
		return v
	case json.Number:
		return v.String()
	case jsonval.Object:
		if len(v) == 0 {
			return l.translate("none")
		}
	}
	return jsonval.EncodeToString(v)
}

// maxListItems is how many plain values of a list are shown, maxListObjects how many objects that a schema describes.
const (
	maxListItems   = 10
	maxListObjects = 3
)

func (f Format) listText(list []any, l Language) string {
	if len(list) == 0 {
		return l.translate("none")
	}
	itemFormat, separator := f.FormatAt(jsonval.Path{"0"}), ", "
	var texts []string
	for n, element := range list {
		_, isList := element.([]any)
		_, isObject := element.(jsonval.Object)
		if isObject {
			separator = "; "
		}
		if itemFormat.Display == Hidden || isList || isObject &&
			(itemFormat.Properties == nil || len(list) > maxListObjects) {
			return l.countText(int64(len(list)), "value")
		}
		if n < maxListItems {
			texts = append(texts, itemFormat.Text(element, l))
		}
	}
	text := strings.Join(texts, separator)
	if omittedCount := len(list) - maxListItems; omittedCount > 0 {
		return l.translate("and", text, omittedCount)
	}
	return text
}

func (f Format) membersText(values jsonval.Object, l Language) string {
	var texts []string
	for _, name := range f.OrderedMemberNames(values) {
		if memberFormat := f.Properties[name]; memberFormat.Display != Hidden {
			texts = append(texts, memberFormat.TitleOr(name)+": "+memberFormat.Text(values[name], l))
		}
	}
	return strings.Join(texts, ", ")
}
