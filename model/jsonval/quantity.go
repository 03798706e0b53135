package jsonval

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"time"
)

// MaxCount is the largest whole number of an Idea file that counts something.
const MaxCount = 1<<31 - 1

// ReadPositiveInt reads a whole number from 1 to MaxCount.
func ReadPositiveInt(v any) (int, error) { return ReadCount(v, MaxCount) }

// ReadCount reads a whole number from 1 to limit, however it is written: 20, 20.0, 2e1.
func ReadCount(v any, limit int) (int, error) {
	n, _ := v.(json.Number)
	approx, err := n.Float64()
	if err == nil && approx >= 1 && approx <= float64(limit) && len(n) <= 60 { // short enough for exact arithmetic
		if exact, ok := new(big.Rat).SetString(n.String()); ok && exact.IsInt() {
			return int(exact.Num().Int64()), nil
		}
	}
	return 0, fmt.Errorf("want a whole number from 1 to %d, not %s", limit, QuoteForError(v))
}

// The range of the durations that people may write. A shorter one is no different from zero to a server of processes,
// and sums of longer ones could overflow a Go duration.
const (
	MinDuration = time.Millisecond
	MaxDuration = 10 * 365 * 24 * time.Hour
)

// DurationRange describes the bounds of a duration to people.
const DurationRange = "from 1ms to 10 years (87600h)"

// ReadDuration reads "72h", "10s", or a number of seconds. For a positive duration out of range it returns the nearest
// valid one beside the error, for processes that began with it.
func ReadDuration(v any) (time.Duration, error) {
	d := time.Duration(0)
	switch v := v.(type) {
	case string:
		d, _ = time.ParseDuration(v)
	case json.Number:
		d = secondsToDuration(v)
	}
	if d < MinDuration || d > MaxDuration {
		err := fmt.Errorf(`want a duration %s, such as "60s", or seconds; not %s`, DurationRange, QuoteForError(v))
		if d > 0 {
			d = min(max(d, MinDuration), MaxDuration)
		}
		return max(d, 0), err
	}
	return d, nil
}

// ParseDuration reads "72h" or "10s", but no plain number of seconds. It is for flags, and for requests to the gateway.
func ParseDuration(text string) (time.Duration, error) {
	d, err := ReadDuration(text)
	if err != nil {
		return 0, fmt.Errorf(`want a duration %s, such as "60s" or "72h"; not %s`, DurationRange, QuoteForError(text))
	}
	return d, nil
}

// secondsToDuration converts a number of seconds to a duration, limited to what a time.Duration can hold.
func secondsToDuration(n json.Number) time.Duration {
	f, err := n.Float64()
	switch {
	case f >= 1e9:
		return math.MaxInt64
	case err != nil || f <= 0:
		return 0
	case f < MinDuration.Seconds():
		return 1
	}
	return time.Duration(math.Round(f * float64(time.Second)))
}

// QuoteForError is a value as an error repeats it.
func QuoteForError(v any) string {
	switch v.(type) {
	case string, json.Number, bool:
		return Clip(string(Encode(v)), 60)
	}
	return TypeOf(v)
}
