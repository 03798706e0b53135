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

// decimalOf reads a number, or a text that is one; ok is false for any other value, and for one with an exponent.
func decimalOf(v any) (d decimal, ok bool) {
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

// shift moves the point to the right by some digits, or to the left.
func (d decimal) shift(by int) decimal {
	factor, _ := new(big.Rat).SetString("1e" + strconv.Itoa(by))
	return decimal{factor.Mul(factor, d.Rat)}
}

// text formats a decimal in a language, with at least scale digits after the point.
func (d decimal) text(l Language, scale int) string {
	s := signsByLanguage[l]
	digits, _ := d.FloatPrec()
	whole, fraction, _ := strings.Cut(d.FloatString(max(digits, scale)), ".")
	whole, negative := strings.CutPrefix(whole, "-")
	var b strings.Builder
	if negative {
		b.WriteString("-")
	}
	for n, digit := range whole {
		if n > 0 && (len(whole)-n)%3 == 0 {
			b.WriteString(s.group)
		}
		b.WriteRune(digit)
	}
	if fraction != "" {
		b.WriteString(s.point + fraction)
	}
	return b.String()
}

// plain writes a decimal as JSON does, without zeros at its end.
func (d decimal) plain() string {
	digits, _ := d.FloatPrec()
	return d.FloatString(digits)
}
