package service

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"processidea/internal/flags"
)

// read reads a command line in an environment.
func read(env map[string]string, args ...string) (s settings, err error) {
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	c := command(lookup, func(_ context.Context, got settings, wrong error) error { s = got; return wrong })
	c.SetArgs(args)
	return s, c.Execute()
}

func TestAFlagCountsBeforeItsVariableAndTheVariableBeforeTheDefault(t *testing.T) {
	env := map[string]string{"PROCESSIDEA_DRAIN": "5m", "PROCESSIDEA_LOG_LEVEL": "warn", "PROCESSIDEA_MAX_CALLS": ""}
	s, err := read(env, "--drain", "1s")
	if err != nil {
		t.Fatal(err)
	}
	if s.drain != time.Second || s.logLevel != slog.LevelWarn || s.limits.Calls != 1000 {
		t.Errorf("%+v", s)
	}
}

func TestTemporalsControllerMayNameTheVersion(t *testing.T) {
	env := map[string]string{"TEMPORAL_DEPLOYMENT_NAME": "default/refunds", "TEMPORAL_WORKER_BUILD_ID": "4f2c"}
	if s, err := read(env); err != nil || s.deployment != "default/refunds" || s.buildID != "4f2c" {
		t.Errorf("%+v, %v", s, err)
	}
	env["PROCESSIDEA_DEPLOYMENT"] = "ours"
	if s, err := read(env); err != nil || s.deployment != "ours" || s.buildID != "4f2c" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAnEmptyAddressIsNoneAndNotTheDefault(t *testing.T) {
	for _, env := range []map[string]string{{"PROCESSIDEA_LISTEN": ""}, {"PROCESSIDEA_LISTEN": "0.0.0.0:1"}} {
		s, err := read(env)
		if err != nil || s.listen != env["PROCESSIDEA_LISTEN"] {
			t.Errorf("%v gives %q, %v", env, s.listen, err)
		}
	}
	if s, err := read(nil); err != nil || s.listen != "127.0.0.1:9464" {
		t.Errorf("nothing gives %q, %v", s.listen, err)
	}
}

func TestWhatCannotBeMeantIsRefusedByName(t *testing.T) {
	for line, want := range map[string]string{
		"--drain -1s":             `"-1s" for "--drain" flag: want a duration from 1ms to 10 years`,
		"--max-requests 0":        `"0" for "--max-requests" flag: want a whole number from 1 to 1000000`,
		"--max-calls -1":          "--max-calls",
		"--money-a-day -1":        `"-1" for "--money-a-day" flag: want 0, or a number from 0.001 to 1e+06`,
		"--calls-per-second NaN":  `"NaN" for "--calls-per-second" flag: want 0, or a number from 0.001 to 1e+06`,
		"--workflow-pollers 1":    "want a whole number from 2 to 500",
		"--max-workflow-tasks 1":  "want a whole number from 2",
		"--gate-histories -5":     "want a whole number from 0",
		"--deployment refunds":    "--deployment (PROCESSIDEA_DEPLOYMENT) and --build-id (PROCESSIDEA_BUILD_ID) go together",
		"--build-id 1":            "go together",
		"--log-format xml":        `--log-format (PROCESSIDEA_LOG_FORMAT) is "xml"; want text or json`,
		"--log-level loud":        "log-level",
		"--gate-ideas /no/such":   "--gate-ideas (PROCESSIDEA_GATE_IDEAS): open /no/such: no such file",
		"--no-such-flag":          "no-such-flag",
		"refunds":                 `"refunds"`,
		"--max-result-bytes 20MB": "20MB",
	} {
		if _, err := read(nil, strings.Fields(line)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("worker %s: %v", line, err)
		}
	}
	if _, err := read(map[string]string{"PROCESSIDEA_DRAIN": "soon"}); err == nil ||
		!strings.Contains(err.Error(), `PROCESSIDEA_DRAIN: "soon"`) {
		t.Errorf("a variable: %v", err)
	}
}

func TestHelpNamesTheVariableOfEveryFlag(t *testing.T) {
	var out strings.Builder
	c := command(os.LookupEnv, nil)
	c.SetArgs([]string{"--help"})
	c.SetOut(&out)
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		flag, _, found := strings.Cut(strings.TrimSpace(line), " ")
		if name, is := strings.CutPrefix(flag, "--"); found && is && !strings.Contains(line, "$"+variableOf(name)+")") {
			t.Errorf("%s", line)
		}
	}
	if n := strings.Count(out.String(), "$PROCESSIDEA_"); n < 10 {
		t.Errorf("it names %d variables:\n%s", n, out.String())
	}
}

// A name that is nearly that of a setting is told, whichever setting it is.
func TestAMisspelledSettingIsToldOfEach(t *testing.T) {
	t.Parallel()
	f := pflag.NewFlagSet("worker", pflag.ContinueOnError)
	new(settings).declare(f)
	f.VisitAll(func(f *pflag.Flag) {
		if name := variableOf(f.Name) + "X"; len(flags.Misspelled([]string{name + "=1"})) == 0 {
			t.Errorf("nobody is told of %s", name)
		}
	})
}
