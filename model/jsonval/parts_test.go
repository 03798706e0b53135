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
		if err := jsonval.UntrustedNodeLimit.Check([]byte(c.text)); (err == nil) != c.taken {
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
	named := func(n int, member string) []byte {
		return []byte("{" + strings.Repeat(member+",", n) + `"":1}`)
	}
	for name, c := range map[string]struct {
		text  []byte
		limit jsonval.NodeLimit
		taken bool
	}{
		"few short ones":          {rows(12_500, 10), jsonval.UntrustedNodeLimit, true},
		"many short ones":         {rows(25_000, 20), jsonval.UntrustedNodeLimit, false},
		"many short ones of ours": {rows(25_000, 20), jsonval.TrustedTableNodeLimit, true},
		"many longer ones":        {rows(100_000, 80), jsonval.UntrustedNodeLimit, false},
		"the same of ours":        {rows(100_000, 80), jsonval.TrustedTableNodeLimit, true},
		"a whole table of ours": {[]byte(strings.Repeat(`{"a":1,"b":2,"c":3}`+"\n", 100_000)),
			jsonval.TrustedTableNodeLimit, true},
		"very many of ours":   {rows(300_000, 120), jsonval.TrustedTableNodeLimit, false},
		"very many long ones": {rows(300_000, 210), jsonval.UntrustedNodeLimit, true},
		"schemas of many Tools": {named(30_000, `"a parameter" : {"type": "string", "description": "What it is."}`),
			jsonval.UntrustedNodeLimit, true},
		"many short named ones": {named(200_000, `"a":{}`), jsonval.UntrustedNodeLimit, false},
	} {
		if err := c.limit.Check(c.text); (err == nil) != c.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
}
