package limit

import (
	"fmt"
	"strings"
	"time"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// Rule is the limit for all turns that share it; a zero field means no limit.
type Rule struct {
	PerSecond     float64 `json:"perSecond,omitempty"` // how many turns may begin
	MaxConcurrent int     `json:"atOnce,omitempty"`    // how many turns may last at a time
	MaxCostPerDay float64 `json:"perDay,omitempty"`    // what is spent in a day, in UTC; a turn costs nothing by itself
}

const (
	minPerSecond   = 0.001
	maxPerSecond   = 1000
	maxConcurrency = 1000
	maxSpacing     = oneDay
)

// ReadRule reads {"perSecond": 20, "atOnce": 5}; nil: there is no Rule.
func ReadRule(v any, path string, ps *diag.Problems) *Rule {
	if v == nil {
		return nil
	}
	m, ok := v.(jsonval.Object)
	if !ok || len(m) == 0 {
		ps.Add(path, `want {"perSecond": 20}, {"atOnce": 5} or both`)
		return nil
	}
	r := &Rule{}
	for k, value := range jsonval.Sorted(m) {
		var err error
		keyPath := jsonval.JSONPathWithKey(path, k)
		switch k {
		case "perSecond":
			r.PerSecond, err = jsonval.ToFloat(value)
			if err != nil || r.PerSecond < minPerSecond || r.PerSecond > maxPerSecond {
				err = fmt.Errorf("want a number from %v to %d, not %s", minPerSecond, maxPerSecond,
					jsonval.QuoteForError(value))
			}
		case "atOnce":
			r.MaxConcurrent, err = jsonval.ReadCount(value, maxConcurrency)
		default:
			err = fmt.Errorf("unknown key %q; a rate has atOnce and perSecond", k)
		}
		if err != nil {
			ps.Add(keyPath, "%s", err)
		}
	}
	return r
}

// String describes the Rule for people: "20 a second, 5 at once".
func (r Rule) String() string {
	var parts []string
	if r.PerSecond > 0 {
		parts = append(parts, fmt.Sprintf("%g a second", r.PerSecond))
	}
	if r.MaxConcurrent > 0 {
		parts = append(parts, fmt.Sprintf("%d at once", r.MaxConcurrent))
	}
	return strings.Join(parts, ", ")
}

// interval returns how long after a turn of this cost the next turn may begin.
func (r Rule) interval(cost float64) time.Duration {
	if r.PerSecond == 0 {
		return 0
	}
	return time.Duration(min(cost/r.PerSecond, maxSpacing.Seconds()) * float64(time.Second))
}
