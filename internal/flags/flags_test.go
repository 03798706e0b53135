package flags_test

import (
	"testing"
	"time"

	"github.com/spf13/pflag"

	"processidea/internal/flags"
	"processidea/model/ideafile/price"
)

func TestAFlagIsSetToTheDigitOrRefused(t *testing.T) {
	t.Parallel()
	f := pflag.NewFlagSet("f", pflag.ContinueOnError)
	n, large, x, d, m := 7, int64(7), 0.0, 30*time.Second, price.Money(0)
	flags.Int(f, &n, "n", -1, 65535, "")
	flags.Int(f, &large, "large", 1, 1<<50, "")
	flags.Float(f, &x, "x", 0.001, 1e6, "")
	flags.Duration(f, &d, "d", 5*time.Second, true, "")
	flags.Money(f, &m, "m", "")
	for _, c := range []struct{ name, text, want string }{
		{"n", "-1", "-1"}, {"n", "65535", "65535"}, {"n", "65536", ""}, {"n", "-2", ""}, {"n", "1.5", ""},
		{"n", "1e3", ""}, {"n", "many", ""},
		{"n", "9223372036854775808", ""}, {"n", "", ""},
		{"large", "1125899906842624", "1125899906842624"}, {"large", "1125899906842625", ""}, {"large", "0", ""},
		{"x", "0", "0"}, {"x", "0.001", "0.001"}, {"x", "1e6", "1e+06"}, {"x", "NaN", ""}, {"x", "Inf", ""},
		{"x", "-1", ""}, {"x", "1e-9", ""}, {"x", "1e-400", ""}, {"x", "1_000", ""}, {"x", "0x10", ""},
		{"d", "0", "0"}, {"d", "5s", "5s"}, {"d", "87600h", "87600h"}, {"d", "90m", "1h30m"}, {"d", "4999ms", ""},
		{"d", "-1s", ""}, {"d", "100y", ""}, {"d", "87601h", ""},
		{"d", "0.1ns", ""}, {"d", "60", ""},
	} {
		flag := f.Lookup(c.name)
		before := flag.Value.String()
		err := flag.Value.Set(c.text)
		switch got := flag.Value.String(); {
		case c.want == "" && (err == nil || got != before):
			t.Errorf("--%s %q is taken as %s", c.name, c.text, got)
		case c.want != "" && (err != nil || got != c.want):
			t.Errorf("--%s %q is read as %s (%v)", c.name, c.text, got, err)
		}
	}
	for text, want := range map[string]price.Money{"0": price.NoLimit, "2.5": 5 * price.Dollar / 2,
		"9000000000": 9_000_000_000 * price.Dollar, "0.000000001": 1} {
		if err := f.Lookup("m").Value.Set(text); err != nil || m != want {
			t.Errorf("--m %s is read as %d (%v)", text, m, err)
		}
	}
	for _, text := range []string{"NaN", "Inf", "-1", "1e-10", "1e-400", "9000000001", "a lot", "", "null",
		"0x1p4", "1_000"} {
		if err := f.Lookup("m").Value.Set(text); err == nil {
			t.Errorf("--m %q is taken as %d", text, m)
		}
	}
}
