package connect

import "go.temporal.io/sdk/log"

// QuietLogger drops the lines of Temporal's SDK below WARN, which say nothing about processes. Lines that this program
// logs through the SDK, from workflows and activities, have the key "process" and are kept.
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

// With keeps the logger quiet when the SDK adds key-value pairs to every line.
func (l quietLogger) With(kv ...any) log.Logger { return quietLogger{log.With(l.Logger, kv...)} }
