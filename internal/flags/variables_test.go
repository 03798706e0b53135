package flags

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every variable that the source reads is among the settings.
func TestTheVariablesAreThoseOfTheSource(t *testing.T) {
	t.Parallel()
	literal := regexp.MustCompile(`"PROCESSIDEA_([A-Z_]+)"`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range literal.FindAllStringSubmatch(string(text), -1) {
			if name := found[1]; !strings.HasPrefix(name, "TEST_") && !slices.Contains(settingNames, name) {
				t.Errorf("%s reads %s, which is not among the variables", path, found[0])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAMisspelledVariableIsNamed(t *testing.T) {
	t.Parallel()
	environ := []string{
		"PROCESSIDEA_HTTP_ALOW=x", "PROCESSIDEA_HTTP_ALLOW=x", "PROCESSIDEA_GATEWAY_SERVICE_HOST=10.0.0.1",
		"PROCESSIDEA_GATEWAY_PORT_8300_TCP=tcp://10.0.0.1:8300", "PROCESSIDEA_TEST_KEY=x",
		"PROCESSIDEA_NOTHING_LIKE_IT=x", "HOME=/",
	}
	want := []string{"PROCESSIDEA_HTTP_ALOW is no setting; did you mean PROCESSIDEA_HTTP_ALLOW?"}
	if got := MisspelledVariableHints(environ); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
