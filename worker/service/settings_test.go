package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"processidea/gateway/server"
	"processidea/internal/flags"
	"processidea/internal/heap"
	"processidea/worker/engine"
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
	if s.drainTimeout != time.Second || s.logLevel != slog.LevelWarn || s.limits.ConcurrentCalls != 1000 {
		t.Errorf("%+v", s)
	}
}

func TestTemporalsControllerMayNameTheVersion(t *testing.T) {
	env := map[string]string{"TEMPORAL_DEPLOYMENT_NAME": "default/refunds", "TEMPORAL_WORKER_BUILD_ID": "4f2c"}
	if s, err := read(env); err != nil || s.deploymentName != "default/refunds" || s.buildID != "4f2c" {
		t.Errorf("%+v, %v", s, err)
	}
	env["PROCESSIDEA_DEPLOYMENT"] = "ours"
	if s, err := read(env); err != nil || s.deploymentName != "ours" || s.buildID != "4f2c" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAnEmptyAddressIsNoneAndNotTheDefault(t *testing.T) {
	for _, env := range []map[string]string{{"PROCESSIDEA_LISTEN": ""}, {"PROCESSIDEA_LISTEN": "0.0.0.0:1"}} {
		s, err := read(env)
		if err != nil || s.healthMetricsAddress != env["PROCESSIDEA_LISTEN"] {
			t.Errorf("%v gives %q, %v", env, s.healthMetricsAddress, err)
		}
	}
	if s, err := read(nil); err != nil || s.healthMetricsAddress != "127.0.0.1:9464" {
		t.Errorf("nothing gives %q, %v", s.healthMetricsAddress, err)
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

// oddNumbers are no values of any number or duration of the environment.
var oddNumbers = []string{"many", "-2", "-0.5", "NaN", "Inf", "1e300", "1e400", "9223372036854775808",
	"9223372036854775807", "1ns", "100y", "0x10", "1_000", "５", "60 s", "1s1"}

// Every number and duration of the environment of a worker, of its gateway and of a worker beside the server has
// bounds, and is refused beyond them before anything is reached. What takes no text that is no number is one, so that
// one that is added later is in the table by itself.
//
// Not parallel: it sets the environment.
func TestEveryNumberOfTheEnvironmentHasBounds(t *testing.T) {
	for name, value := range map[string]string{"TEMPORAL_ADDRESS": "nowhere", server.TokenVariable: strings.Repeat("t", 24),
		"PROCESSIDEA_GATEWAY": "127.0.0.1:0", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
		"OTEL_TRACES_SAMPLER": "traceidratio"} {
		t.Setenv(name, value)
	}
	isNumber := regexp.MustCompile(`want (0, or )?an? (whole )?(number|duration)|from [0-9.]+ to [0-9.]+|want .* at least`)
	numbers := map[string]bool{}
	for _, name := range variablesOfTheSource(t) {
		if _, is := os.LookupEnv(name); is {
			continue // a text that this test needs
		}
		for n, value := range oddNumbers {
			said := refusalOf(t, name, value)
			if n == 0 && !isNumber.MatchString(said) {
				break // a text
			}
			if numbers[name] = true; !isNumber.MatchString(said) {
				t.Errorf("%s=%s is taken, or refused without a sentence: %s", name, value, said)
			}
		}
	}
	if len(numbers) < 20 || !numbers["OPENAI_TPM"] || !numbers["PROCESSIDEA_DRAIN"] || !numbers["OTEL_TRACES_SAMPLER_ARG"] {
		t.Errorf("the numbers are only %v", slices.Sorted(maps.Keys(numbers)))
	}
}

// DeclaredFlags are the flags of a worker.
func DeclaredFlags() *pflag.FlagSet {
	f := pflag.NewFlagSet("worker", pflag.ContinueOnError)
	new(settings).addFlags(f)
	return f
}

// variablesOfTheSource are the variables that the source names, and those of the worker's flags.
func variablesOfTheSource(t *testing.T) []string {
	t.Helper()
	all := map[string]bool{}
	literal := regexp.MustCompile(`"((?:PROCESSIDEA|OPENAI|OTEL)_[A-Z_]+)"`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range literal.FindAllStringSubmatch(string(text), -1) {
			all[found[1]] = !strings.Contains(found[1], "_TEST_")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	DeclaredFlags().VisitAll(func(f *pflag.Flag) { all[envVarOf(f.Name)] = true })
	return slices.Sorted(maps.Keys(all))
}

// refusalOf is what the programs say of a variable before they reach anything.
func refusalOf(t *testing.T, name, value string) string {
	t.Helper()
	t.Setenv(name, value)
	defer os.Unsetenv(name)
	var err strings.Builder
	if code := Execute([]string{}, io.Discard, &err); code != exitUsage {
		t.Errorf("with %s=%s it ends with %d: %s", name, value, code, &err)
	}
	asked := false
	getenv := func(variable string) string { asked = asked || variable == name; return os.Getenv(variable) }
	_, limits := engine.EmbeddedLimitsFromEnv(getenv)
	_, memory := heap.BytesFromEnv(getenv, heap.LimitEnvVariable)
	if beside := errors.Join(limits, memory); asked && (beside == nil || !strings.Contains(beside.Error(), "want ")) {
		return fmt.Sprintf("beside the server: %v", beside)
	}
	_, said, _ := strings.Cut(err.String(), name)
	said, _, _ = strings.Cut(said, "\n") // the next setting
	return said
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
		if name, is := strings.CutPrefix(flag, "--"); found && is && !strings.Contains(line, "$"+envVarOf(name)+")") {
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
	DeclaredFlags().VisitAll(func(f *pflag.Flag) {
		if name := envVarOf(f.Name) + "X"; len(flags.MisspelledVariableHints([]string{name + "=1"})) == 0 {
			t.Errorf("nobody is told of %s", name)
		}
	})
}
