package connect

import "go.temporal.io/sdk/log"

// QuietLogger leaves out what Temporal's SDK says below WARN, which tells nothing of processes. What this program logs
// by way of the SDK, from workflows and activities, names its process and stays.
func QuietLogger(l log.Logger) log.Logger { return quiet{l} }

type quiet struct{ log.Logger }

func (l quiet) Debug(string, ...any) {}

func (l quiet) Info(msg string, kv ...any) {
	for n := 0; n < len(kv); n += 2 {
		if kv[n] == "process" {
			l.Logger.Info(msg, kv...)
			return
		}
	}
}

// With is for what the SDK adds to every line.
func (l quiet) With(kv ...any) log.Logger { return quiet{log.With(l.Logger, kv...)} }
