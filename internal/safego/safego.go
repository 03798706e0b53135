// Package safego starts goroutines that cannot end the program. Go ends a program when a goroutine panics, and with it
// all work of a worker. Here a panic becomes an error of the task that the goroutine works for, and a line at ERROR
// with its stack in the program's log (slog.Default).
//
// Each goroutine is started with the name of its place, such as "activities.heartbeat". The log contains that name, and
// tests use it to cause a panic there. Unrecoverable faults still end the program: no memory, a stack overflow,
// concurrent writes to a map.
package safego

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// PanicError is a panic as an error.
type PanicError struct {
	Label string
	Value string // the panic's value as text
	Stack string // as runtime/debug prints it
}

// Error names the place and the panic's value.
func (e *PanicError) Error() string { return e.Label + " panicked: " + e.Value }

// StackTrace is the stack at the panic.
func (e *PanicError) StackTrace() string { return e.Stack }

// Go starts f. When the goroutine ends, done is called with f's error or panic. done is nil if nobody waits for the
// goroutine.
func Go(label string, f func() error, onDone func(error)) {
	startHook := currentStartHook.Load() // load it here: another test may have set its own before the goroutine runs
	go func() {
		hasReturned := false
		var err error
		defer func() {
			if v := recover(); v != nil {
				err = logPanic(label, v)
			} else if !hasReturned && onDone != nil { // the waiter must learn that the goroutine was left
				err = logPanic(label, "runtime.Goexit was called")
			}
			if onDone != nil {
				defer func() {
					if v := recover(); v != nil {
						_ = logPanic(label, v)
					}
				}()
				onDone(err)
			}
		}()
		startHook.callIfSet(label)
		err = f()
		hasReturned = true
	}()
}

// Run calls f on this goroutine, and returns its panic as an error. It is for callbacks that libraries call on
// goroutines of their own.
func Run(label string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = logPanic(label, v)
		}
	}()
	currentStartHook.Load().callIfSet(label)
	return f()
}

// GoAndWait calls f on a new goroutine and waits for its end. Unlike Run it also returns when f calls runtime.Goexit.
func GoAndWait(label string, f func() error) error {
	done := make(chan error, 1)
	Go(label, f, func(err error) { done <- err })
	return <-done
}

// AfterFunc calls f after a time, as time.AfterFunc does.
func AfterFunc(d time.Duration, label string, f func()) *time.Timer {
	return time.AfterFunc(d, func() {
		_ = Run(label, func() error { f(); return nil })
	})
}

// AfterDone calls f once ctx is done, as context.AfterFunc does.
func AfterDone(ctx context.Context, label string, f func()) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		_ = Run(label, func() error { f(); return nil })
	})
}

// ForEach calls do for 0 to times-1, at most limit at a time, and returns the first error, which cancels the others.
func ForEach(ctx context.Context, label string, count, maxConcurrent int,
	f func(ctx context.Context, n int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxConcurrent)
	for n := range count {
		g.Go(func() error { return Run(label, func() error { return f(ctx, n) }) })
	}
	return g.Wait()
}

// logPanic logs a panic.
func logPanic(label string, value any) *PanicError {
	e := &PanicError{Label: label, Value: PanicText(value), Stack: Stack()}
	slog.Error("a goroutine panicked", "place", e.Label, "panic", e.Value, "stack", e.Stack)
	return e
}

// Stack returns the stack of the panic that was just recovered from. Without a panic it returns the caller's stack.
func Stack() string {
	stack := string(debug.Stack())
	// the frames above it belong to the recovery
	if _, frames, hasPanicked := strings.Cut(stack, "\npanic("); hasPanicked {
		_, frames, _ = strings.Cut(frames, "\n\t")
		_, stack, _ = strings.Cut(frames, "\n")
	}
	return stack
}

// PanicText formats a panic's value as text. It survives a String method that panics again, which would end the
// program.
func PanicText(value any) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("a value of type %T", value)
		}
	}()
	return fmt.Sprint(value)
}

type startHookFunc func(place string)

var currentStartHook atomic.Pointer[startHookFunc]

// SetStartHook calls f at the start of every goroutine, on that goroutine, so that a test can make it panic; nil
// removes f. It is only for tests.
func SetStartHook(f func(place string)) {
	currentStartHook.Store((*startHookFunc)(&f))
}

func (f *startHookFunc) callIfSet(label string) {
	if f != nil && *f != nil {
		(*f)(label)
	}
}
