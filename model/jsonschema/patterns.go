package jsonschema

import (
	"fmt"
	"regexp/syntax"

	"processidea/model/jsonval"
)

// Go compiles a pattern to a program. A counted repetition such as `(…){1000}` makes the program thousands of times as
// large as the pattern's text. So the steps of a program are counted before it is compiled.

const (
	// maxCompiledPatternSteps bounds the steps of the patterns of one schema: some megabytes.
	maxCompiledPatternSteps = 100_000
	// MaxCompiledPatternStepsInFile bounds the steps of all schemas of a file.
	MaxCompiledPatternStepsInFile = 500_000
	// MaxServerToolCompiledPatternSteps bounds the steps of all tools that servers describe.
	MaxServerToolCompiledPatternSteps = 200_000
	// MaxServerToolCompiledStepsPerPattern bounds the steps of one pattern of such a tool.
	MaxServerToolCompiledStepsPerPattern = 10_000

	bytesPerPatternStep = 80 // of memory, about
	bytesPerRangeEnd    = 4
)

// CountCompiledSteps counts the steps of a pattern's program. The error says why Go cannot compile it.
func CountCompiledSteps(pattern string) (int, error) {
	if len(pattern) > maxCompiledPatternSteps {
		return len(pattern), nil // it has at least as many
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return len(pattern), err
	}
	stepCount, rangeEndCount := countStepsAndRangeEnds(tree)
	return stepCount + rangeEndCount*bytesPerRangeEnd/bytesPerPatternStep, nil
}

// countStepsAndRangeEnds counts the steps of a program, and the ends of its ranges of characters. Repetitions share the
// ranges in memory.
func countStepsAndRangeEnds(re *syntax.Regexp) (stepCount, rangeEndCount int) {
	for _, sub := range re.Sub {
		s, r := countStepsAndRangeEnds(sub)
		stepCount, rangeEndCount = stepCount+s, rangeEndCount+r
	}
	switch re.Op {
	case syntax.OpRepeat:
		return (stepCount + 1) * max(re.Min+1, re.Max), rangeEndCount
	case syntax.OpLiteral:
		return len(re.Rune), 0
	case syntax.OpCharClass:
		return 1, len(re.Rune)
	}
	return stepCount + 2, rangeEndCount
}

// CountCompiledPatternSteps counts the steps of all patterns in schemas, and refuses more than limit. It ignores
// unreadable patterns, which the compiler reports.
func CountCompiledPatternSteps(schemas any, limit int) (stepCount int, err error) {
	for k, v := range membersAtAnyDepth(schemas) {
		var patterns []string
		switch v := v.(type) {
		case string:
			if k == "pattern" {
				patterns = []string{v}
			}
		case jsonval.Object:
			if k == "patternProperties" {
				patterns = jsonval.SortedKeys(v)
			}
		}
		for _, pattern := range patterns {
			n, _ := CountCompiledSteps(pattern)
			if stepCount += n; stepCount > limit {
				return stepCount,
					fmt.Errorf("its patterns come to more than %d steps when they are compiled, with %s: "+
						"repeat less in them", limit, jsonval.Clip(pattern, 100))
			}
		}
	}
	return stepCount, nil
}
