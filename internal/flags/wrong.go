package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// InvalidSettings joins the errors of settings. Two or more become a list with one line each. An error from errors.Join
// counts as several errors; nil counts as none.
func InvalidSettings(errs ...error) error {
	all := SplitJoined(errors.Join(errs...))
	slices.SortStableFunc(all, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if len(all) < 2 {
		return errors.Join(all...)
	}
	lines := make([]string, len(all))
	for n, err := range all {
		lines[n] = "\n- " + err.Error()
	}
	return &invalidSettings{all, fmt.Sprintf("%d settings are wrong:%s", len(all), strings.Join(lines, ""))}
}

type invalidSettings struct {
	errs []error
	text string
}

func (w *invalidSettings) Error() string   { return w.text }
func (w *invalidSettings) Unwrap() []error { return w.errs }

// SplitJoined splits an error from errors.Join into its parts. It keeps an error whole that wraps several others in its
// own text.
func SplitJoined(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok || errors.Join(joined.Unwrap()...).Error() != err.Error():
		return []error{err}
	}
	for _, one := range joined.Unwrap() {
		all = append(all, SplitJoined(one)...)
	}
	return all
}
