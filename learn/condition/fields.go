package condition

import (
	"math"
	"slices"

	"processidea/model/jsonval"
)

// Bounds of the fields that are read.
const (
	maxFieldDepth = 8   // how deep in a sample fields are looked for
	maxFields     = 400 // fields of all samples together
	maxTextBytes  = 120 // bytes of a text that is compared as a value
)

// field is one place in the samples, with what each sample has there.
type field struct {
	path            jsonval.Path
	isLength        bool // the values are the lengths of lists
	values          []any
	existsInSample  []bool
	numbers         []float64 // the values that are numbers
	isNumber        []bool
	comparisonTexts []string // each value as text, to compare values one by one; "" if there is none
	isScalar        bool     // all values are texts, numbers, flags or null
	isNumeric       bool     // all values are numbers or null, and some are numbers
}

// readFields lists the fields in which the samples differ, in the order of their paths.
func readFields(samples []Sample) []*field {
	fieldByName := map[string]*field{}
	for n, sample := range samples {
		collectFields(fieldByName, len(samples), n, nil, sample.View)
	}
	var list []*field
	for _, f := range jsonval.Sorted(fieldByName) {
		if f.deriveKind(); f.varies() {
			list = append(list, f)
		}
	}
	return list
}

// collectFields adds the fields that one sample has at a path and below.
func collectFields(fieldByName map[string]*field, sampleCount, sampleIndex int, path jsonval.Path, v any) {
	addField := func(name string, v any, isLength bool) bool {
		f := fieldByName[name]
		if f == nil && len(fieldByName) >= maxFields {
			return false
		}
		if f == nil {
			f = &field{path: slices.Clone(path), isLength: isLength, values: make([]any, sampleCount),
				existsInSample: make([]bool, sampleCount)}
			fieldByName[name] = f
		}
		f.values[sampleIndex], f.existsInSample[sampleIndex] = v, true
		return true
	}
	if len(path) > 0 && !addField(path.String(), v, false) {
		return
	}
	if list, ok := v.([]any); ok && len(path) > 0 {
		addField(path.String()+"\x00length", jsonval.ToJSONValue(len(list)), true)
	}
	m, ok := v.(jsonval.Object)
	if _, isHandle := jsonval.AsBlobHandle(v); !ok || isHandle || len(path) >= maxFieldDepth {
		return
	}
	for k, v := range jsonval.Sorted(m) {
		collectFields(fieldByName, sampleCount, sampleIndex, path.WithStep(k), v)
	}
}

// deriveKind derives the kind of the field from its values.
func (f *field) deriveKind() {
	f.isScalar, f.comparisonTexts = true, make([]string, len(f.values))
	f.numbers, f.isNumber = make([]float64, len(f.values)), make([]bool, len(f.values))
	numberCount, otherCount := 0, 0
	for n, v := range f.values {
		if !f.existsInSample[n] {
			continue
		}
		switch t := jsonval.TypeOf(v); t {
		case "object", "array":
			f.isScalar, f.comparisonTexts[n] = false, t
			otherCount++
			continue
		case "number", "integer":
			if x, err := jsonval.ToFloat(v); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
				f.numbers[n], f.isNumber[n] = x, true
				numberCount++
			}
		case "null":
		default:
			otherCount++
		}
		f.comparisonTexts[n] = jsonval.EncodeToString(v)
		f.isScalar = f.isScalar && len(f.comparisonTexts[n]) <= maxTextBytes
	}
	f.isNumeric = numberCount > 0 && otherCount == 0
	if f.isLength {
		f.isScalar = false // lengths are compared, not listed
	}
}

// varies reports whether any two samples differ in the field.
func (f *field) varies() bool {
	for n := range f.values {
		if f.existsInSample[n] != f.existsInSample[0] || ((f.isScalar || f.isNumeric) &&
			f.comparisonTexts[n] != f.comparisonTexts[0]) {
			return true
		}
	}
	return false
}

// absentOrNull describes what a sample has in place of a number: nothing, or null; empty if it has a number.
func (f *field) absentOrNull(n int) string {
	switch {
	case !f.existsInSample[n]:
		return "absent"
	case !f.isNumber[n]:
		return "null"
	}
	return ""
}
