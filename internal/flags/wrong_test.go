package flags_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"processidea/internal/flags"
)

func TestAllThatIsWrongIsSaidLineByLine(t *testing.T) {
	t.Parallel()
	a, b := errors.New("A is no number"), fmt.Errorf("B: %w: %w", fs.ErrNotExist, errors.New("it is gone"))
	for _, c := range []struct {
		errs []error
		want string
	}{
		{[]error{nil, errors.Join(nil, nil)}, ""},
		{[]error{nil, errors.Join(nil, b)}, b.Error()},
		{[]error{a, nil, errors.Join(b, errors.Join(a, nil))},
			"3 settings are wrong:\n- A is no number\n- A is no number\n- B: file does not exist: it is gone"},
	} {
		err := flags.JoinSettingErrors(c.errs...)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%q: %v", c.errs, err)
		}
		if c.want != "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v hides what it is of", err)
		}
	}
}
