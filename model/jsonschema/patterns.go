package jsonschema

import (
	"fmt"
	"regexp/syntax"

	"processidea/model/jsonval"
)

// Go makes a program of a pattern before it is used. A counted repetition makes that thousands of times as large as
// its text: `(…){1000}`. So the steps of programs are counted before they are made.

const (
	// maxPatternSteps bounds the steps of the patterns of one schema: some megabytes.
	maxPatternSteps = 100_000
	// MaxPatternStepsInFile bounds the steps of all schemas of a file.
	MaxPatternStepsInFile = 500_000
	// MaxForeignPatternSteps bounds the steps of all tools that servers describe.
	MaxForeignPatternSteps = 200_000
	// MaxForeignPattern bounds the steps of one of their patterns.
	MaxForeignPattern = 10_000

	stepBytes  = 80 // of memory, about
	rangeBytes = 4
)

// PatternSteps counts the steps of a pattern's program. The error says why Go cannot compile it.
func PatternSteps(pattern string) (int, error) {
	if len(pattern) > maxPatternSteps {
		return len(pattern), nil // it has at least as many
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return len(pattern), err
	}
	steps, ranges := sizeOf(tree)
	return steps + ranges*rangeBytes/stepBytes, nil
}

// sizeOf counts steps, and the ends of ranges of characters, which are in memory once however often they repeat.
func sizeOf(re *syntax.Regexp) (steps, ranges int) {
	for _, sub := range re.Sub {
		s, r := sizeOf(sub)
		steps, ranges = steps+s, ranges+r
	}
	switch re.Op {
	case syntax.OpRepeat:
		return (steps + 1) * max(re.Min+1, re.Max), ranges
	case syntax.OpLiteral:
		return len(re.Rune), 0
	case syntax.OpCharClass:
		return 1, len(re.Rune)
	}
	return steps + 2, ranges
}

// CheckPatterns refuses schemas whose patterns have more steps than most in all. It ignores unreadable patterns, which
// the compiler reports.
func CheckPatterns(schemas any, most int) error {
	_, err := countPatternSteps(schemas, most)
	return err
}

func countPatternSteps(schemas any, most int) (steps int, err error) {
	count := func(pattern string) error {
		n, _ := PatternSteps(pattern)
		if steps += n; steps > most {
			return fmt.Errorf("its patterns come to more than %d steps when they are compiled, with %s: "+
				"repeat less in them", most, jsonval.Clip(pattern, 100))
		}
		return nil
	}
	err = visitKeys(schemas, func(k string, v any) error {
		if pattern, ok := v.(string); ok && k == "pattern" {
			return count(pattern)
		}
		if named, ok := v.(jsonval.Object); ok && k == "patternProperties" {
			for pattern := range jsonval.Sorted(named) {
				if err := count(pattern); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return steps, err
}
