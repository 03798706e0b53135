package shown

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"
)

// decimal is a number as its digits, so that none is lost.
type decimal struct {
	negative        bool
	whole, fraction string // whole has a digit at least
}

var plainDecimal = regexp.MustCompile(`^(-?)0*([0-9]+)(?:\.([0-9]+))?$`)

// decimalOf reads a number, or a text that is one; ok is false for any other value, and for one with an exponent.
func decimalOf(v any) (d decimal, ok bool) {
	var text string
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = v
	default:
		return d, false
	}
	m := plainDecimal.FindStringSubmatch(text)
	if m == nil {
		return d, false
	}
	return decimal{negative: m[1] != "", whole: m[2], fraction: m[3]}, true
}

// shift moves the point to the right by some digits, or to the left.
func (d decimal) shift(by int) decimal {
	for ; by > 0; by-- {
		if d.fraction == "" {
			d.fraction = "0"
		}
		d.whole, d.fraction = d.whole+d.fraction[:1], d.fraction[1:]
	}
	for ; by < 0; by++ {
		d.whole, d.fraction = d.whole[:len(d.whole)-1], d.whole[len(d.whole)-1:]+d.fraction
		if d.whole == "" {
			d.whole = "0"
		}
	}
	if d.whole = strings.TrimLeft(d.whole, "0"); d.whole == "" {
		d.whole = "0"
	}
	return d
}

// text writes a decimal as a language does, with so many digits behind the point at least.
func (d decimal) text(l Language, scale int) string {
	s := signsByLanguage[l]
	var b strings.Builder
	if d.negative {
		b.WriteString("-")
	}
	for n, digit := range d.whole {
		if n > 0 && (len(d.whole)-n)%3 == 0 {
			b.WriteString(s.group)
		}
		b.WriteRune(digit)
	}
	fraction := d.fraction
	for len(fraction) > scale && strings.HasSuffix(fraction, "0") {
		fraction = fraction[:len(fraction)-1]
	}
	for len(fraction) < scale {
		fraction += "0"
	}
	if fraction != "" {
		b.WriteString(s.point + fraction)
	}
	return b.String()
}

// plain writes a decimal as JSON does, without zeros at its end.
func (d decimal) plain() string {
	text := d.whole
	if d.negative {
		text = "-" + text
	}
	if fraction := strings.TrimRight(d.fraction, "0"); fraction != "" {
		text += "." + fraction
	}
	return text
}

// plus adds two decimals, exactly.
func (d decimal) plus(o decimal) decimal {
	scale := max(len(d.fraction), len(o.fraction))
	sum := d.scaled(scale)
	sum.Add(sum, o.scaled(scale))
	out := decimal{negative: sum.Sign() < 0, whole: sum.Abs(sum).String()}
	return out.shift(-scale)
}

// scaled is the decimal as a whole number, its point moved to the right.
func (d decimal) scaled(scale int) *big.Int {
	n, _ := new(big.Int).SetString(d.whole+d.fraction+strings.Repeat("0", scale-len(d.fraction)), 10)
	if d.negative {
		n.Neg(n)
	}
	return n
}
