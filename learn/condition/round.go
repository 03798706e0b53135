package condition

import (
	"encoding/json"
	"math"
	"strconv"

	"processidea/model/jsonval"
)

// roundedBoundSchema bounds a zone that ends at the sample edgeIndex, where nearestIndex is the first sample of the
// other side. The threshold itself belongs to the lower side, so that the zones of the two sides fit together.
func (f *sampleField) roundedBoundSchema(k testKind, edgeIndex, nearestIndex int) jsonval.Object {
	low, high := min(f.numberBySample[edgeIndex], f.numberBySample[nearestIndex]),
		max(f.numberBySample[edgeIndex], f.numberBySample[nearestIndex])
	threshold := roundBetween(low, high)
	if value, err := jsonval.ToFloat(threshold); f.isLength || err != nil || value < low || value >= high {
		return f.boundSchema(k, f.valueBySample[edgeIndex])
	}
	if k == testAtLeast {
		return jsonval.Object{"type": "number", "exclusiveMinimum": threshold}
	}
	return jsonval.Object{"type": "number", "maximum": threshold}
}

// roundBetween returns the number with the fewest digits of those that are at least low and less than high.
func roundBetween(low, high float64) json.Number {
	const maxExponent, minExponent = 15, -9
	middle := low + (high-low)/2
	for e := maxExponent; e >= minExponent; e-- {
		step := math.Pow(10, float64(e))
		closestToMiddle, isFound := 0.0, false
		for m := math.Ceil(low / step); m*step < high && m <= math.Ceil(low/step)+20; m++ {
			if x := m * step; x >= low && (!isFound || math.Abs(x-middle) < math.Abs(closestToMiddle-middle)) {
				closestToMiddle, isFound = x, true
			}
		}
		if isFound {
			return json.Number(strconv.FormatFloat(closestToMiddle, 'f', max(0, -e), 64))
		}
	}
	return json.Number(strconv.FormatFloat(low, 'f', -1, 64))
}
