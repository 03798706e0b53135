package verbs

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"processidea/internal/flags"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/worker/engine"
)

// Every number and duration of the command line has bounds, and is refused beyond them before the verb begins. A flag
// that is added later is in the table by itself.
func TestEveryNumberOfTheCommandLineHasBounds(t *testing.T) {
	t.Parallel()
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			switch v, bounded := f.Value.(*flags.Value); {
			case bounded:
				seen++
				heldToItsBounds(t, c.CommandPath(), f, v)
			case isNumber(f.Value.Type()):
				t.Errorf("%s --%s is a number without bounds: declare it by package flags", c.CommandPath(), f.Name)
			}
		})
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(Root(&app.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}))
	if seen < 50 {
		t.Errorf("there are only %d numbers", seen)
	}
}

// Every verb says at once all that is wrong with its command line, each on a line of its own: flags that it does not
// have, values that its flags do not take, and that an argument is missing. Nothing is done.
func TestEveryVerbSaysAllThatIsWrongWithItsCommandLine(t *testing.T) {
	seen := 0
	var walk func(c *cobra.Command, path ...string)
	walk = func(c *cobra.Command, path ...string) {
		for _, below := range c.Commands() {
			walk(below, append(slices.Clip(path), below.Name())...)
		}
		if c.RunE == nil {
			return
		}
		args, want := append(path, "--no-such=x", "-Zz", "--nor-this"), []string{"unknown flag: --no-such",
			"unknown flag: --nor-this", "'Z' in -Zz", "'z' in -z"}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, bounded := f.Value.(*flags.Value); bounded || f.Value.Type() == "bool" {
				args, want = append(args, "--"+f.Name+"=many"), append(want, "--"+f.Name+"\" flag: ")
			}
		})
		var out, err strings.Builder
		code := Execute(args, &out, &err, engine.Additions{}, nil)
		lines := strings.Split(strings.TrimSuffix(err.String(), "\n"), "\n")
		isWorker := path[0] == "worker" // it tells all that is wrong with its settings in one log
		if missing := strings.Fields(c.Use); len(missing) > 1 && regexp.MustCompile("^[A-Z]").MatchString(missing[1]) {
			want = append(want, " is missing")
		}
		for _, what := range want {
			if seen++; strings.Count(err.String(), what) != 1 {
				t.Errorf("%q does not say %q once: %s", args, what, err.String())
			}
		}
		if code != exit.Usage || out.Len() > 0 || len(lines) != len(want) && !isWorker {
			t.Errorf("%q: %d, %q, %d lines for %d mistakes: %s", args, code, out.String(), len(lines), len(want), err.String())
		}
	}
	walk(Root(&app.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}))
	if seen < 300 {
		t.Errorf("there are only %d mistakes", seen)
	}
}

func isNumber(kind string) bool {
	for _, start := range []string{"int", "uint", "float", "duration", "count"} {
		if strings.HasPrefix(kind, start) {
			return true
		}
	}
	return false
}

func heldToItsBounds(t *testing.T, verb string, f *pflag.Flag, v *flags.Value) {
	t.Helper()
	least, most := v.Bounds()
	for _, text := range []string{least, most} {
		if err := f.Value.Set(text); err != nil {
			t.Errorf("%s --%s does not take %s: %s", verb, f.Name, text, err)
		}
	}
	if f.Value.Set("0") == nil && !strings.Contains(f.Usage, "0") {
		t.Errorf("%s --%s takes 0, and does not say what it means: %s", verb, f.Name, f.Usage)
	}
	for _, text := range []string{"", "many", "NaN", "Inf", "-2", "1e300", "1e-300", "9223372036854775808", "1ns",
		"100y", "1000000h", "1.0000000001", "60 s", "0x10", "1_000", "５"} {
		if err := f.Value.Set(text); err == nil && f.Value.String() != text || err != nil &&
			!strings.HasPrefix(err.Error(), "want ") {
			t.Errorf("%s --%s %q is set to %s, or refused without a sentence: %v", verb, f.Name, text, f.Value, err)
		}
	}
}
