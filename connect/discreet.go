package connect

import (
	"errors"
	"slices"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
)

// discreet keeps out of logs what is encrypted in histories: what tools and LLMs said when they failed. The error's
// code stays; the rest is in the history, for those who have the keys.
type discreet struct{ log.Logger }

func (l discreet) Debug(msg string, kv ...any) { l.Logger.Debug(msg, withoutTexts(kv)...) }
func (l discreet) Info(msg string, kv ...any)  { l.Logger.Info(msg, withoutTexts(kv)...) }
func (l discreet) Warn(msg string, kv ...any)  { l.Logger.Warn(msg, withoutTexts(kv)...) }
func (l discreet) Error(msg string, kv ...any) { l.Logger.Error(msg, withoutTexts(kv)...) }

// With is for what the SDK adds to every line.
func (l discreet) With(kv ...any) log.Logger {
	return discreet{log.With(l.Logger, withoutTexts(kv)...)}
}

func withoutTexts(kv []any) []any {
	out := slices.Clone(kv)
	for n, v := range out {
		if n%2 == 1 && out[n-1] == "reason" {
			out[n] = "(its text is encrypted)"
			continue
		}
		err, _ := v.(error)
		var said *temporal.ApplicationError
		if errors.As(err, &said) {
			out[n] = said.Type() + " (its text is encrypted)"
		}
	}
	return out
}
