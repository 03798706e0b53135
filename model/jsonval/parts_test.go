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
		if err := jsonval.CheckParts([]byte(c.text), jsonval.FirstObjectsOfFile); (err == nil) != c.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestManyObjectsMustBeLong(t *testing.T) {
	t.Parallel()
	rows := func(n, bytes int) []byte {
		row := `{"n":"` + strings.Repeat("x", bytes-len(`{"n":""}`+"\n")) + `"}` + "\n"
		return []byte(strings.Repeat(row, n))
	}
	for name, c := range map[string]struct {
		text  []byte
		first int
		taken bool
	}{
		"few short ones":          {rows(12_500, 10), jsonval.FirstObjectsOfBody, true},
		"many short ones":         {rows(25_000, 20), jsonval.FirstObjectsOfBody, false},
		"many short ones of ours": {rows(25_000, 20), jsonval.FirstObjectsOfFile, true},
		"many longer ones":        {rows(100_000, 80), jsonval.FirstObjectsOfBody, false},
		"the same of ours":        {rows(100_000, 80), jsonval.FirstObjectsOfFile, true},
		"very many of ours":       {rows(300_000, 120), jsonval.FirstObjectsOfFile, false},
		"very many long ones":     {rows(300_000, 210), jsonval.FirstObjectsOfBody, true},
	} {
		if err := jsonval.CheckParts(c.text, c.first); (err == nil) != c.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
}
