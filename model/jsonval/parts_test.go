package jsonval_test

import (
	"strings"
	"testing"

	"processidea/model/jsonval"
)

func TestATextMayHaveSoManyPartsForItsLength(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		taken bool
	}{
		"nothing":                    {"", true},
		"numbers, few":               {"[" + strings.Repeat("1,", 200_000) + "1]", true},
		"numbers, many":              {"[" + strings.Repeat("1,", 400_000) + "1]", false},
		"empty objects":              {"[" + strings.Repeat("{},", 300_000) + "{}]", false},
		"lists in lists":             {strings.Repeat("[", 400_000), false},
		"lines":                      {strings.Repeat("{}\n", 500_000), false},
		"lines with an odd quote":    {`"` + "\n" + strings.Repeat("{}\n", 500_000), false},
		"long texts":                 {"[" + strings.Repeat(`"`+strings.Repeat("x", 50)+`",`, 400_000) + "1]", true},
		"a text full of marks":       {`["` + strings.Repeat(`{\"a\":[1,`, 400_000) + `"]`, true},
		"a text that ends in a mark": {`["\\",` + strings.Repeat("1,", 400_000) + `1]`, false},
	} {
		if err := jsonval.CheckParts([]byte(c.text)); (err == nil) != c.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
}
