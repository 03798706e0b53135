package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// JoinSettingErrors joins the errors of settings. Two or more become a list with one line each. An error from
// errors.Join counts as several errors; nil counts as none.
func JoinSettingErrors(errs ...error) error {
	settingErrs := SplitJoinedError(errors.Join(errs...))
	slices.SortStableFunc(settingErrs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if len(settingErrs) < 2 {
		return errors.Join(settingErrs...)
	}
	lines := make([]string, len(settingErrs))
	for n, err := range settingErrs {
		lines[n] = "\n- " + err.Error()
	}
	return &invalidSettingsError{settingErrs, fmt.Sprintf("%d settings are wrong:%s", len(settingErrs),
		strings.Join(lines, ""))}
}

type invalidSettingsError struct {
	errs []error
	text string
}

func (w *invalidSettingsError) Error() string   { return w.text }
func (w *invalidSettingsError) Unwrap() []error { return w.errs }

// SplitJoinedError splits an error from errors.Join into its parts. It keeps an error whole that wraps several others
// in its own text.
func SplitJoinedError(err error) (parts []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok || errors.Join(joined.Unwrap()...).Error() != err.Error():
		return []error{err}
	}
	for _, part := range joined.Unwrap() {
		parts = append(parts, SplitJoinedError(part)...)
	}
	return parts
}
