package condition

import (
	"math"
	"slices"

	"processidea/model/jsonval"
)

// Bounds of the fields that are read.
const (
	maxFieldDepth        = 8   // how deep in a sample fields are looked for
	maxFields            = 400 // fields of all samples together
	maxComparedTextBytes = 120 // bytes of a text that is compared as a value
)

// sampleField is one place in the samples, with what each sample has there.
type sampleField struct {
	path                   jsonval.Path
	isLength               bool // the values are the lengths of lists
	valueBySample          []any
	existsInSample         []bool
	numberBySample         []float64 // the values that are numbers
	isNumberInSample       []bool
	comparisonTextBySample []string // each value as text, to compare values one by one; "" if there is none
	isScalar               bool     // all values are texts, numbers, flags or null
	isNumeric              bool     // all values are numbers or null, and some are numbers
}

// readFields lists the fields in which the samples differ, in the order of their paths.
func readFields(samples []Sample) []*sampleField {
	fieldByName := map[string]*sampleField{}
	for n, sample := range samples {
		collectFields(fieldByName, len(samples), n, nil, sample.View)
	}
	var list []*sampleField
	for _, f := range jsonval.Sorted(fieldByName) {
		if f.deriveKind(); f.varies() {
			list = append(list, f)
		}
	}
	return list
}

// collectFields adds the fields that one sample has at a path and below.
func collectFields(fieldByName map[string]*sampleField, sampleCount, sampleIndex int, path jsonval.Path, v any) {
	addField := func(name string, v any, isLength bool) bool {
		f := fieldByName[name]
		if f == nil && len(fieldByName) >= maxFields {
			return false
		}
		if f == nil {
			f = &sampleField{path: slices.Clone(path), isLength: isLength, valueBySample: make([]any, sampleCount),
				existsInSample: make([]bool, sampleCount)}
			fieldByName[name] = f
		}
		f.valueBySample[sampleIndex], f.existsInSample[sampleIndex] = v, true
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
func (f *sampleField) deriveKind() {
	f.isScalar, f.comparisonTextBySample = true, make([]string, len(f.valueBySample))
	f.numberBySample, f.isNumberInSample = make([]float64, len(f.valueBySample)), make([]bool, len(f.valueBySample))
	numberCount, nonNumberCount := 0, 0
	for n, v := range f.valueBySample {
		if !f.existsInSample[n] {
			continue
		}
		switch t := jsonval.TypeOf(v); t {
		case "object", "array":
			f.isScalar, f.comparisonTextBySample[n] = false, t
			nonNumberCount++
			continue
		case "number", "integer":
			if x, err := jsonval.ToFloat(v); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
				f.numberBySample[n], f.isNumberInSample[n] = x, true
				numberCount++
			}
		case "null":
		default:
			nonNumberCount++
		}
		f.comparisonTextBySample[n] = jsonval.EncodeToString(v)
		f.isScalar = f.isScalar && len(f.comparisonTextBySample[n]) <= maxComparedTextBytes
	}
	f.isNumeric = numberCount > 0 && nonNumberCount == 0
	if f.isLength {
		f.isScalar = false // lengths are compared, not listed
	}
}

// varies reports whether any two samples differ in the field.
func (f *sampleField) varies() bool {
	for n := range f.valueBySample {
		if f.existsInSample[n] != f.existsInSample[0] || ((f.isScalar || f.isNumeric) &&
			f.comparisonTextBySample[n] != f.comparisonTextBySample[0]) {
			return true
		}
	}
	return false
}

// absentOrNull describes what a sample has in place of a number: nothing, or null; empty if it has a number.
func (f *sampleField) absentOrNull(n int) string {
	switch {
	case !f.existsInSample[n]:
		return "absent"
	case !f.isNumberInSample[n]:
		return "null"
	}
	return ""
}
