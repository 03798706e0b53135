package devserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// serverLog sends the server's logs to slog. The server's own logger writes to standard output and ends the program on
// a fatal error.
type serverLog struct {
	logger       *slog.Logger
	fatalHandler *fatalErrorHandler
}

var _ log.WithLogger = serverLog{}

func newServerLog(logger *slog.Logger) serverLog {
	return serverLog{logger, &fatalErrorHandler{startErrChan: make(chan error, 1)}}
}

func (l serverLog) Debug(msg string, tags ...tag.Tag) { l.write(slog.LevelDebug, msg, tags) }
func (l serverLog) Info(msg string, tags ...tag.Tag)  { l.write(slog.LevelInfo, msg, tags) }
func (l serverLog) Warn(msg string, tags ...tag.Tag)  { l.write(slog.LevelWarn, msg, tags) }
func (l serverLog) Error(msg string, tags ...tag.Tag) { l.write(slog.LevelError, msg, tags) }

// DPanic only logs. Temporal panics here only in development builds.
func (l serverLog) DPanic(msg string, tags ...tag.Tag) { l.write(slog.LevelError, msg, tags) }

func (l serverLog) Panic(msg string, tags ...tag.Tag) {
	l.write(slog.LevelError, msg, tags)
	panic(fatalError(msg, tags))
}

// Fatal never returns: the server's code relies on that.
func (l serverLog) Fatal(msg string, tags ...tag.Tag) {
	l.write(slog.LevelError, msg, tags)
	l.fatalHandler.handle(fatalError(msg, tags))
}

// With does nothing if logs are dropped, since it is called for every request.
func (l serverLog) With(tags ...tag.Tag) log.Logger {
	if !l.logger.Enabled(context.Background(), slog.LevelError) {
		return l
	}
	return serverLog{l.logger.With(logAttributes(tags)...), l.fatalHandler}
}

// SLog returns the logger for services that use slog themselves.
func (l serverLog) SLog() *slog.Logger { return l.logger }

func (l serverLog) write(level slog.Level, msg string, tags []tag.Tag) {
	ctx := context.Background()
	if l.logger.Enabled(ctx, level) {
		l.logger.Log(ctx, level, msg, logAttributes(tags)...)
	}
}

func logAttributes(tags []tag.Tag) []any {
	attributes := make([]any, len(tags))
	for i, t := range tags {
		attributes[i] = slog.Any(t.Key(), t.Value())
	}
	return attributes
}

// fatalError makes an error from a message and the cause, which the server puts into a tag as text.
func fatalError(msg string, tags []tag.Tag) error {
	for _, t := range tags {
		if t.Key() == "error" {
			return fmt.Errorf("%s: %v", msg, t.Value())
		}
	}
	return errors.New(msg)
}

const (
	phaseStarting int32 = iota
	phaseRunning
	phaseStopping
)

// fatalErrorHandler decides what a fatal error of the server does. During the start, Start returns it. While the
// server runs, it ends the program. During the stop, it is ignored.
type fatalErrorHandler struct {
	phase        atomic.Int32
	startErrChan chan error // the first error during the start
}

func (f *fatalErrorHandler) setPhase(phase int32) { f.phase.Store(phase) }

// handle never returns. If a running server loses one of its services, the program ends: clients would wait in vain
// otherwise, and the next server continues from the file.
func (f *fatalErrorHandler) handle(err error) {
	switch f.phase.Load() {
	case phaseRunning:
		panic(err)
	case phaseStopping:
		// Expected noise, such as a listener that is closed before it serves.
		runtime.Goexit()
	}
	select {
	case f.startErrChan <- err:
	default:
	}
	// Start returns the error, and nothing waits for this goroutine. It must not end, because some callers take its end
	// for a panic.
	select {}
}
