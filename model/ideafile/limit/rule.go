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
	TurnsPerSecond     float64 `json:"perSecond,omitempty"` // how many turns may begin
	MaxConcurrentTurns int     `json:"atOnce,omitempty"`    // how many turns may last at a time
	MaxCostPerDay      float64 `json:"perDay,omitempty"`    // what is spent in a day, in UTC; a turn costs nothing by itself
}

const (
	minTurnsPerSecond         = 0.001
	maxTurnsPerSecond         = 1000
	highestMaxConcurrentTurns = 1000
	maxTurnInterval           = oneDay
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
			r.TurnsPerSecond, err = jsonval.ToFloat(value)
			if err != nil || r.TurnsPerSecond < minTurnsPerSecond || r.TurnsPerSecond > maxTurnsPerSecond {
				err = fmt.Errorf("want a number from %v to %d, not %s", minTurnsPerSecond, maxTurnsPerSecond,
					jsonval.QuoteForError(value))
			}
		case "atOnce":
			r.MaxConcurrentTurns, err = jsonval.ReadCount(value, highestMaxConcurrentTurns)
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
	if r.TurnsPerSecond > 0 {
		parts = append(parts, fmt.Sprintf("%g a second", r.TurnsPerSecond))
	}
	if r.MaxConcurrentTurns > 0 {
		parts = append(parts, fmt.Sprintf("%d at once", r.MaxConcurrentTurns))
	}
	return strings.Join(parts, ", ")
}

// turnInterval returns how long after a turn of this cost the next turn may begin.
func (r Rule) turnInterval(cost float64) time.Duration {
	if r.TurnsPerSecond == 0 {
		return 0
	}
	return time.Duration(min(cost/r.TurnsPerSecond, maxTurnInterval.Seconds()) * float64(time.Second))
}
