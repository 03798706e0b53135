package works

import "time"

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func inMS(all []time.Duration) (values []float64) {
	for _, d := range all {
		values = append(values, milliseconds(d))
	}
	return values
}

// sumSeconds adds up durations.
func sumSeconds(all []time.Duration) float64 {
	var s time.Duration
	for _, d := range all {
		s += d
	}
	return s.Seconds()
}
