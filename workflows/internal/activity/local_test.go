package activity_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What all attempts of a local activity may take is said wherever there is one: the SDK's default surprises.
func TestEveryLocalActivitySaysWhatAllAttemptsMayTake(t *testing.T) {
	t.Parallel()
	options := regexp.MustCompile(`(?s)LocalActivityOptions\{.*?\n\t*\}\)`)
	found := 0
	for _, pattern := range []string{"../*/*.go", "../../*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, o := range options.FindAllString(string(source), -1) {
				if found++; !strings.Contains(o, "ScheduleToCloseTimeout:") {
					t.Errorf("%s: no ScheduleToCloseTimeout in %s", file, o)
				}
			}
		}
	}
	if found < 6 {
		t.Errorf("%d local activities were found", found)
	}
}
