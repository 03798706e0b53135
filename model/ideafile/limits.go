package ideafile

import (
	"cmp"
	"fmt"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile/price"
	"processidea/model/jsonval"
)

// Limits are limits that pause a process which reaches one of them. 0 is not said: WithDefaults tells what holds then.
// Below 0 is no limit.
type Limits struct {
	Requests int           `json:"requests,omitempty"`
	Tokens   int           `json:"tokens,omitempty"`
	Money    price.Money   `json:"money,omitempty"` // that LLMs cost
	Calls    int           `json:"calls,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
}

// NoLimit is a limit that no process reaches; `null` in a file.
const NoLimit = -1

// What holds where a file says nothing: for a process of up to config.batch instances, and for each part of one that is
// split. A process may wait for people for as long as it takes, so that its duration has no limit.
const (
	DefaultRequestLimit = 1000
	DefaultTokenLimit   = 20_000_000
	DefaultCallLimit    = 100_000
)

// ReadLimits reads {"requests","tokens","money","calls","duration"}; null is no limit.
func ReadLimits(m map[string]any, path string, ps *diag.Problems) Limits {
	var l Limits
	for k, v := range jsonval.Sorted(m) {
		var err error
		switch k {
		case "calls":
			l.Calls, err = readLimit(v, jsonval.ReadPositiveInt)
		case "duration":
			l.Duration, err = readLimit(v, jsonval.ReadDuration)
		case "money":
			l.Money, err = readLimit(v, price.ReadMoney)
		case "requests":
			l.Requests, err = readLimit(v, jsonval.ReadPositiveInt)
		case "tokens":
			l.Tokens, err = readLimit(v, jsonval.ReadPositiveInt)
		default:
			err = fmt.Errorf("unknown limit %q; there are calls, duration, money, requests and tokens", k)
		}
		if err != nil {
			ps.Add(jsonval.JSONPathWithKey(path, k), "%s", err)
		}
	}
	return l
}

func readLimit[T ~int | ~int64](v any, read func(any) (T, error)) (T, error) {
	if v == nil {
		return NoLimit, nil
	}
	return read(v)
}

// MergedWith returns the limits with those of other in place of its own, where other has one.
func (l Limits) MergedWith(other Limits) Limits {
	return Limits{
		Requests: cmp.Or(other.Requests, l.Requests), Tokens: cmp.Or(other.Tokens, l.Tokens),
		Money: cmp.Or(other.Money, l.Money),
		Calls: cmp.Or(other.Calls, l.Calls), Duration: cmp.Or(other.Duration, l.Duration),
	}
}

// WithDefaults returns the limits with the defaults, so many times as much, in place of those that are not said.
func (l Limits) WithDefaults(times int) Limits {
	return Limits{Requests: DefaultRequestLimit * times, Tokens: DefaultTokenLimit * times,
		Calls: DefaultCallLimit * times}.MergedWith(l)
}
