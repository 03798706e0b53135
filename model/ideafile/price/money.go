package price

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Money is an amount in billionths of a US dollar. In JSON it is a number of dollars.
type Money int64

// Dollar is one US dollar.
const Dollar Money = 1_000_000_000

const maxDollars = 9_000_000_000

// maxMoney is the largest amount that is read, and counted.
const maxMoney = maxDollars * Dollar

// NoLimit is a limit that no amount reaches.
const NoLimit Money = -1

// text is the exact amount in dollars, with at least least digits after the point.
func (m Money) text(minDecimals int) string {
	exactDollars := big.NewRat(int64(m), int64(Dollar))
	digits, _ := exactDollars.FloatPrec()
	return exactDollars.FloatString(max(digits, minDecimals))
}

// String is the amount as people read it: with cents from a dollar on, or else with its first two digits: "$12.30" and
// "$0.0012".
func (m Money) String() string {
	step := Dollar / 100
	for step > 1 && m < Dollar && m > -Dollar && m/step < 10 && m/step > -10 {
		step /= 10
	}
	halfStep := step / 2
	if m < 0 {
		halfStep = -halfStep
	}
	return "$" + ((m + halfStep) / step * step).text(2)
}

// SplitEvenly divides an amount: the shares add up to it, and differ by at most a billionth of a dollar.
func (m Money) SplitEvenly(count int) []Money {
	shares := make([]Money, count)
	for n := range shares {
		shares[n] = m / Money(count-n)
		m -= shares[n]
	}
	return shares
}

// MarshalJSON writes a number of dollars.
func (m Money) MarshalJSON() ([]byte, error) { return []byte(m.text(0)), nil }

// UnmarshalJSON reads a number of dollars.
func (m *Money) UnmarshalJSON(data []byte) (err error) {
	*m, err = parseMoney(string(data))
	return err
}

// ReadMoney reads an amount above zero of an Idea file: a number of dollars.
func ReadMoney(v any) (Money, error) {
	if m, err := readAmount(v); err == nil && m > 0 {
		return m, nil
	}
	return 0,
		fmt.Errorf(
			"want a number of US dollars above zero, such as 2.5, up to %d, with at most nine digits after the "+
				"point", maxDollars)
}

func readAmount(v any) (Money, error) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, errors.New("price: read amount: it is no number")
	}
	return parseMoney(n.String())
}

// Plus adds an amount. The sum is at most maxMoney.
func (m Money) Plus(other Money) Money {
	if other > 0 && m > maxMoney-other {
		return maxMoney
	}
	return m + other
}

// parseMoney reads a decimal number, exactly.
func parseMoney(text string) (Money, error) {
	approximateDollars, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || len(text) > 60 || math.Abs(approximateDollars) > maxDollars:
		return 0, fmt.Errorf("price: read %.60q: no amount of dollars", text)
	case approximateDollars == 0 && !strings.ContainsAny(strings.Split(strings.ToLower(text), "e")[0], "123456789"):
		return 0, nil
	case math.Abs(approximateDollars) < 1e-9: // otherwise the exponent is small
		return 0, fmt.Errorf("price: read %q: less than a billionth of a dollar", text)
	}
	exactAmount, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, fmt.Errorf("price: read %q: no amount of dollars", text)
	}
	exactAmount.Mul(exactAmount, new(big.Rat).SetInt64(int64(Dollar)))
	if !exactAmount.IsInt() {
		return 0, fmt.Errorf("price: read %q: more than nine digits after the point", text)
	}
	return Money(exactAmount.Num().Int64()), nil
}

// Times returns a fraction of an amount; factor is the fraction, where a Dollar means all. Half of the smallest amount
// is rounded up.
func (m Money) Times(factor Money) Money {
	product := new(big.Int).Mul(big.NewInt(int64(m)), big.NewInt(int64(factor)))
	product.Add(product, big.NewInt(int64(Dollar/2)))
	return Money(product.Div(product, big.NewInt(int64(Dollar))).Int64())
}
