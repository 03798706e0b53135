package ideafile

import (
	"cmp"
	"fmt"
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile/price"
	"processidea/model/jsonval"
)

// Limits are limits that pause a process which reaches one of them; 0: the default of WithDefaults; below 0: no limit.
type Limits struct {
	Requests int           `json:"requests,omitempty"`
	Tokens   int           `json:"tokens,omitempty"`
	Money    price.Money   `json:"money,omitempty"` // what LLMs cost
	Calls    int           `json:"calls,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
}

// NoLimit is a limit that no process reaches; `null` in a file.
const NoLimit = -1

// The defaults for a process of up to config.batch instances, and for each part of a split process. A process may wait
// for people for as long as it takes, so that its duration has no default limit.
const (
	DefaultRequestLimit = 1000
	DefaultTokenLimit   = 20_000_000
	DefaultCallLimit    = 100_000
)

// ReadLimits reads {"requests","tokens","money","calls","duration"}; null is no limit.
func ReadLimits(m jsonval.Object, path string, ps *diag.Problems) Limits {
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
			ps.AddAtKey(path, k, "%s", err)
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

// OverriddenBy returns the limits, each replaced by that of overrides unless it is 0.
func (l Limits) OverriddenBy(overrides Limits) Limits {
	return Limits{
		Requests: cmp.Or(overrides.Requests, l.Requests), Tokens: cmp.Or(overrides.Tokens, l.Tokens),
		Money: cmp.Or(overrides.Money, l.Money),
		Calls: cmp.Or(overrides.Calls, l.Calls), Duration: cmp.Or(overrides.Duration, l.Duration),
	}
}

// WithDefaults returns the limits with the defaults, multiplied by times, in place of 0.
func (l Limits) WithDefaults(factor int) Limits {
	return Limits{Requests: DefaultRequestLimit * factor, Tokens: DefaultTokenLimit * factor,
		Calls: DefaultCallLimit * factor}.OverriddenBy(l)
}
