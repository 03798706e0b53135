package tools

import "errors"

// Final marks an error as one that a further attempt would only repeat. A nil error stays nil.
func Final(err error) error {
	if err == nil || IsFinal(err) {
		return err
	}
	return &finalError{err}
}

// IsFinal reports whether err must not be retried: it, or an error in its chain, was marked by Final or has a method
// `Final() bool` that returns true.
func IsFinal(err error) bool {
	var f interface{ Final() bool }
	return errors.As(err, &f) && f.Final()
}

type finalError struct{ err error }

func (e *finalError) Error() string { return e.err.Error() }
func (e *finalError) Unwrap() error { return e.err }
func (e *finalError) Final() bool   { return true }

// PanicError is a tool's panic as an error. Its text does not contain the stack, which goes into the details of the
// failure.
type PanicError struct {
	ValueText string // the panic's value as text
	Stack     string
}

// Error returns the panic's value.
func (e *PanicError) Error() string { return "panicked: " + e.ValueText }

// StackTrace returns the stack of the panic.
func (e *PanicError) StackTrace() string { return e.Stack }
