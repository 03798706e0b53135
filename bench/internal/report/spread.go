package report

import (
	"math"
	"slices"
)

// Spread sums up the samples of one figure.
type Spread struct {
	P10    float64   `json:"p10"`
	Median float64   `json:"median"`
	P90    float64   `json:"p90"`
	Values []float64 `json:"values"`
}

// SpreadOf sums up some samples.
func SpreadOf(values []float64) Spread {
	sorted := slices.Sorted(slices.Values(values))
	return Spread{P10: quantile(sorted, 0.1), Median: quantile(sorted, 0.5), P90: quantile(sorted, 0.9), Values: values}
}

// quantile returns the value below which a share q of the sorted values lies, interpolated between two values.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	position := q * float64(len(sorted)-1)
	low, high := sorted[int(math.Floor(position))], sorted[int(math.Ceil(position))]
	return low + (high-low)*(position-math.Floor(position))
}
