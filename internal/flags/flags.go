// Package flags reads numbers and durations from a command line, or from the variables named after flags, within the
// bounds of each flag.
//
// Invariant: a flag is set to exactly what was written, or refused with a sentence that says what it accepts.
package flags

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"processidea/model/ideafile/price"
	"processidea/model/jsonval"
)

// Value is a flag's value that has bounds.
type Value struct {
	typeName, minText, maxText string
	format                     func() string
	parseAndSet                func(string) error
}

// String formats the value as a user would write it; a zero duration is "0".
func (v *Value) String() string {
	if v.format == nil { // pflag calls it on a zero Value
		return ""
	}
	return v.format()
}

// Set reads a text.
func (v *Value) Set(text string) error { return v.parseAndSet(strings.TrimSpace(text)) }

// Type names the kind: int, float or duration.
func (v *Value) Type() string { return v.typeName }

// Bounds are the lowest and the highest value that the flag takes, as a user would write them.
func (v *Value) Bounds() (lowest, highest string) { return v.minText, v.maxText }

// Int adds a flag for a whole number from lowest to highest. into holds the default.
func Int[N int | int64](f *pflag.FlagSet, dest *N, name string, lowest, highest N, usage string) {
	v := &Value{typeName: "int", minText: fmt.Sprint(lowest), maxText: fmt.Sprint(highest),
		format: func() string { return fmt.Sprint(*dest) }}
	v.parseAndSet = func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || N(n) < lowest || N(n) > highest {
			return fmt.Errorf("want a whole number from %d to %d", lowest, highest)
		}
		*dest = N(n)
		return nil
	}
	f.Var(v, name, usage)
}

// Float adds a flag for a number from lowest to highest, or 0. into holds the default.
func Float(f *pflag.FlagSet, dest *float64, name string, lowest, highest float64, usage string) {
	formatFloat := func(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }
	v := &Value{typeName: "float", minText: formatFloat(lowest), maxText: formatFloat(highest),
		format: func() string { return formatFloat(*dest) }}
	v.parseAndSet = func(text string) error {
		n, err := strconv.ParseFloat(text, 64)
		isUnderflow := n == 0 && strings.ContainsAny(mantissa(text), "123456789")
		isInvalid := isUnderflow || math.IsNaN(n) || strings.Contains(text, "_")
		if err != nil || isInvalid || n != 0 && (n < lowest || n > highest) {
			return fmt.Errorf("want 0, or a number from %s to %s", v.minText, v.maxText)
		}
		*dest = n
		return nil
	}
	f.Var(v, name, usage)
}

// mantissa is the text of a number without its exponent.
func mantissa(text string) string {
	before, _, _ := strings.Cut(strings.ToLower(text), "e")
	return before
}

// Duration adds a flag for a duration from lowest to jsonval.MaxDuration, or 0 if allowsZero is set. into holds the
// default.
func Duration(f *pflag.FlagSet, dest *time.Duration, name string, lowest time.Duration, allowsZero bool, usage string) {
	v := &Value{typeName: "duration", minText: shortDuration(lowest), maxText: shortDuration(jsonval.MaxDuration),
		format: func() string { return shortDuration(*dest) }}
	if allowsZero {
		v.minText = "0"
	}
	v.parseAndSet = func(text string) error {
		if d, err := time.ParseDuration(text); allowsZero && err == nil && d == 0 &&
			!strings.ContainsAny(text, "123456789") {
			*dest = 0
			return nil
		}
		d, err := jsonval.ParseDuration(text)
		if err == nil && d < lowest {
			err = fmt.Errorf("want %s at least", shortDuration(lowest))
		}
		if err == nil {
			*dest = d
		}
		return err
	}
	f.Var(v, name, usage)
}

// shortDuration formats a duration as a user would write it: 30s rather than 0h0m30s, and 87600h.
func shortDuration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Money adds a flag for an exact amount of US dollars. 0 sets price.NoLimit. Without the flag, into stays as it is.
func Money(f *pflag.FlagSet, dest *price.Money, name, usage string) {
	v := &Value{typeName: "float", minText: "0", maxText: "9000000000", format: func() string { return "" }}
	v.parseAndSet = func(text string) error {
		var m price.Money
		if err := m.UnmarshalJSON([]byte(text)); err != nil || m < 0 || !json.Valid([]byte(text)) {
			return errors.New(
				"want an amount of US dollars from 0 to 9000000000, with at most nine digits after the point")
		}
		if m == 0 {
			m = price.NoLimit
		}
		*dest = m
		return nil
	}
	f.Var(v, name, usage)
}
