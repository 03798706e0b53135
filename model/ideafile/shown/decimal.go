package shown

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"processidea/model/jsonval"
)

// decimal is a number with all its digits.
type decimal struct{ *big.Rat }

var plainDecimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// parseDecimal reads a number, or a text that is one; ok is false for any other value, and for one with an exponent.
func parseDecimal(v any) (d decimal, ok bool) {
	text := jsonval.AsText(v)
	if n, isNumber := v.(json.Number); isNumber {
		text = n.String()
	}
	if !plainDecimal.MatchString(text) {
		return d, false
	}
	exact, ok := new(big.Rat).SetString(text)
	return decimal{exact}, ok
}

// shiftPoint moves the point to the right by some digits, or to the left.
func (d decimal) shiftPoint(digits int) decimal {
	factor, _ := new(big.Rat).SetString("1e" + strconv.Itoa(digits))
	return decimal{factor.Mul(factor, d.Rat)}
}

// groupedText formats a decimal in a language, with at least scale digits after the point.
func (d decimal) groupedText(l Language, minDecimalPlaces int) string {
	s := numberSignsByLanguage[l]
	decimalPlaces, _ := d.FloatPrec()
	integerPart, fraction, _ := strings.Cut(d.FloatString(max(decimalPlaces, minDecimalPlaces)), ".")
	integerPart, isNegative := strings.CutPrefix(integerPart, "-")
	var b strings.Builder
	if isNegative {
		b.WriteString("-")
	}
	for n, digit := range integerPart {
		if n > 0 && (len(integerPart)-n)%3 == 0 {
			b.WriteString(s.groupSign)
		}
		b.WriteRune(digit)
	}
	if fraction != "" {
		b.WriteString(s.decimalPoint + fraction)
	}
	return b.String()
}

// plainText writes a decimal as JSON does, without zeros at its end.
func (d decimal) plainText() string {
	decimalPlaces, _ := d.FloatPrec()
	return d.FloatString(decimalPlaces)
}
