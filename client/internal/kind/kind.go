// Package kind gives errors a kind that errors.Is finds and that is no part of their text, so that a text reads as one
// sentence while programs tell errors apart by an exported variable.
package kind

import (
	"errors"
	"fmt"
)

// Is reports whether an error is of a type, or wraps one.
func Is[T error](err error) bool {
	_, is := errors.AsType[T](err)
	return is
}

type kindError struct {
	kind, err error
}

// Errorf formats an error as fmt.Errorf does, of a kind.
func Errorf(kind error, format string, args ...any) error {
	return &kindError{kind, fmt.Errorf(format, args...)}
}

// Of gives an error a kind; nil stays nil.
func Of(kind, err error) error {
	if err == nil {
		return nil
	}
	return &kindError{kind, err}
}

// Error is the text of the error alone.
func (e *kindError) Error() string { return e.err.Error() }

// Unwrap gives the kind, and what the error wraps besides.
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }
