package rehearsal

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// readText reads a string, which may be empty.
func readText(value json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return "", errors.New("must be a string")
	}
	return s, nil
}

// readNonEmptyText reads a string that is not empty.
func readNonEmptyText(value json.RawMessage) (string, error) {
	s, err := readText(value)
	if err == nil && s == "" {
		err = errors.New("must not be empty")
	}
	return s, err
}

// readNumber reads a number from 0 on that a float64 can hold.
func readNumber(value json.RawMessage) (float64, error) {
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

// readWholeNumber reads a whole number from 0 on, written without fraction or exponent.
func readWholeNumber(value json.RawMessage) (int, error) {
	if _, err := readNumber(value); err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(value))
	if err != nil {
		return 0, fmt.Errorf("must be a whole number: %.20s", value)
	}
	return n, nil
}

// readErrorStatus reads an HTTP status from 400 to 599.
func readErrorStatus(value json.RawMessage) (int, error) {
	n, err := readWholeNumber(value)
	if err == nil && (n < 400 || n > 599) {
		err = fmt.Errorf("must be from 400 to 599: %d", n)
	}
	return n, err
}

// readDuration returns a function that reads a duration in this unit.
func readDuration(unit time.Duration) func(json.RawMessage) (time.Duration, error) {
	return func(value json.RawMessage) (time.Duration, error) {
		n, err := readNumber(value)
		if err == nil && n*unit.Seconds() > maxWaitSeconds {
			err = fmt.Errorf("out of range: %.20s", value)
		}
		if err != nil {
			return 0, err
		}
		return time.Duration(math.Round(n * float64(unit))), nil
	}
}
