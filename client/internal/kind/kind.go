// Package kind gives errors a kind that errors.Is finds, but that is not in their text. So a text reads as one
// sentence, and programs distinguish errors by an exported variable.
package kind

import (
	"errors"
	"fmt"
)

// Is reports whether an error is of a type, or wraps an error of the type.
func Is[T error](err error) bool {
	_, is := errors.AsType[T](err)
	return is
}

type kindError struct {
	kind, err error
}

// Errorf formats an error as fmt.Errorf does, and gives it a kind.
func Errorf(kind error, format string, args ...any) error {
	return &kindError{kind, fmt.Errorf(format, args...)}
}

// WithKind gives an error a kind; nil stays nil.
func WithKind(kind, err error) error {
	if err == nil {
		return nil
	}
	return &kindError{kind, err}
}

// Error returns the text of the error without its kind.
func (e *kindError) Error() string { return e.err.Error() }

// Unwrap returns the kind and the error.
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }
