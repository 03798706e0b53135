package connect

import "go.temporal.io/sdk/log"

// QuietLogger leaves out what Temporal's SDK says below WARN, which tells nothing of processes. What this program logs
// by way of the SDK, from workflows and activities, names its process and stays.
func QuietLogger(l log.Logger) log.Logger { return quietLogger{l} }

type quietLogger struct{ log.Logger }

func (l quietLogger) Debug(string, ...any) {}

func (l quietLogger) Info(msg string, kv ...any) {
	for n := 0; n < len(kv); n += 2 {
		if kv[n] == "process" {
			l.Logger.Info(msg, kv...)
			return
		}
	}
}

// With is for what the SDK adds to every line.
func (l quietLogger) With(kv ...any) log.Logger { return quietLogger{log.With(l.Logger, kv...)} }
