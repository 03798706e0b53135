package tools

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	maxExponent = 308 // the largest power of ten that a float64 holds
	maxDigits   = 400 // characters in one number: 1e308 written out has 309
)

// checkNumbers refuses numbers that no float64 can hold, at any depth: libraries
// behind the tools spend minutes on them or panic.
func checkNumbers(v any) error {
	switch v := v.(type) {
	case json.Number:
		return checkNumber(string(v))
	case []any:
		for _, item := range v {
			if err := checkNumbers(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, item := range v {
			if err := checkNumbers(item); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkNumber(n string) error {
	if len(n) > maxDigits {
		return fmt.Errorf("a number of %d characters is out of range", len(n))
	}
	if i := strings.IndexAny(n, "eE"); i >= 0 {
		e, err := strconv.Atoi(n[i+1:])
		if err != nil || e > maxExponent || e < -maxExponent {
			return fmt.Errorf("number %s is out of range", n)
		}
	}
	f, err := strconv.ParseFloat(n, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) || strings.ContainsAny(n, "xX_ ") {
		return fmt.Errorf("number %s is out of range", n)
	}
	return nil
}
