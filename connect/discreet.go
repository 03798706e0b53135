package connect

import (
	"errors"
	"slices"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
)

// redactingLogger keeps out of logs what histories encrypt: the error texts of tools and LLMs. The error's code stays
// in the log; the text is in the history, for holders of the keys.
type redactingLogger struct{ log.Logger }

func (l redactingLogger) Debug(msg string, kv ...any) { l.Logger.Debug(msg, redactTexts(kv)...) }
func (l redactingLogger) Info(msg string, kv ...any)  { l.Logger.Info(msg, redactTexts(kv)...) }
func (l redactingLogger) Warn(msg string, kv ...any)  { l.Logger.Warn(msg, redactTexts(kv)...) }
func (l redactingLogger) Error(msg string, kv ...any) { l.Logger.Error(msg, redactTexts(kv)...) }

// With also redacts the key-value pairs that the SDK adds to every line.
func (l redactingLogger) With(kv ...any) log.Logger {
	return redactingLogger{log.With(l.Logger, redactTexts(kv)...)}
}

func redactTexts(kv []any) []any {
	out := slices.Clone(kv)
	for n, v := range out {
		if n%2 == 1 && out[n-1] == "reason" {
			out[n] = "(its text is encrypted)"
			continue
		}
		err, _ := v.(error)
		var failure *temporal.ApplicationError
		if errors.As(err, &failure) {
			out[n] = failure.Type() + " (its text is encrypted)"
		}
	}
	return out
}
