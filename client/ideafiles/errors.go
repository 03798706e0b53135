package ideafiles

import (
	"errors"
	"fmt"
	"io/fs"

	"processidea/client/internal/kind"
	"processidea/model/diag"
)

// ErrInvalid is wrapped by every error about the input: a missing or malformed file, an invalid place. Retrying does
// not help.
var ErrInvalid = errors.New("invalid input")

// InvalidError lists everything that is wrong with a file, or with an Idea. It wraps ErrInvalid.
type InvalidError struct {
	Source   string // the file, or the process
	Problems diag.Problems
}

// Error names the source and every problem.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("check %s: %s", e.Source, e.Problems.Error())
}

// ErrorFromProblems returns an *InvalidError if there are problems other than warnings; otherwise nil.
func ErrorFromProblems(source string, problems diag.Problems) error {
	if errs := problems.Errors(); len(errs) > 0 {
		return &InvalidError{source, errs}
	}
	return nil
}

// Unwrap returns ErrInvalid.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

func invalidErrorf(format string, args ...any) error { return kind.Errorf(ErrInvalid, format, args...) }

// WithoutPath returns an I/O error without its path, for a message that already contains the path.
func WithoutPath(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
