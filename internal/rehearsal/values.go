package rehearsal

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// text reads a string, which may be empty.
func text(value json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return "", errors.New("must be a string")
	}
	return s, nil
}

// filled reads a string that is not empty.
func filled(value json.RawMessage) (string, error) {
	s, err := text(value)
	if err == nil && s == "" {
		err = errors.New("must not be empty")
	}
	return s, err
}

// number reads a number from 0 on that a float64 can hold.
func number(value json.RawMessage) (float64, error) {
	n, err := strconv.ParseFloat(string(value), 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("out of range: %.20s", value)
	case err != nil:
		return 0, errors.New("must be a number")
	case n < 0:
		return 0, fmt.Errorf("must not be negative: %.20s", value)
	}
	return n, nil
}

// whole reads a whole number from 0 on, written as one.
func whole(value json.RawMessage) (int, error) {
	if _, err := number(value); err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(value))
	if err != nil {
		return 0, fmt.Errorf("must be a whole number: %.20s", value)
	}
	return n, nil
}

// status reads an HTTP status that clients take for an error.
func status(value json.RawMessage) (int, error) {
	n, err := whole(value)
	if err == nil && (n < 400 || n > 599) {
		err = fmt.Errorf("must be from 400 to 599: %d", n)
	}
	return n, err
}

// span reads a time in a unit.
func span(value json.RawMessage, unit time.Duration) (time.Duration, error) {
	n, err := number(value)
	if err == nil && n*unit.Seconds() > maxSeconds {
		err = fmt.Errorf("out of range: %.20s", value)
	}
	if err != nil {
		return 0, err
	}
	return time.Duration(math.Round(n * float64(unit))), nil
}
