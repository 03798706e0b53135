// Package peers holds the same works as the benchmarks for other durable engines. README.md says how to run them; in Go
// there are only these checks of what is installed.
package peers

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

var exact = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

func read(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryVersionIsExactAndTheOneThatIsLocked(t *testing.T) {
	var wanted struct{ Dependencies, OptionalDependencies map[string]string }
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	read(t, "package.json", &wanted)
	read(t, "package-lock.json", &lock)
	if len(wanted.Dependencies) < 5 || len(wanted.OptionalDependencies) == 0 {
		t.Fatalf("package.json names %+v", wanted)
	}
	for _, all := range []map[string]string{wanted.Dependencies, wanted.OptionalDependencies} {
		for name, version := range all {
			if locked := lock.Packages["node_modules/"+name].Version; !exact.MatchString(version) || locked != version {
				t.Errorf("%s is wanted as %s and locked as %s", name, version, locked)
			}
		}
	}
	for name, p := range lock.Packages {
		if name != "" && !strings.HasPrefix(p.Integrity, "sha512-") {
			t.Errorf("%s is locked without a digest", name)
		}
	}
}

func TestTheLockFileNamesNoRegistry(t *testing.T) {
	var lock struct {
		Packages map[string]struct{ Resolved string }
	}
	read(t, "package-lock.json", &lock)
	for name, p := range lock.Packages {
		if p.Resolved != "" && !strings.HasPrefix(p.Resolved, "https://registry.npmjs.org/") {
			t.Errorf("%s comes from %s", name, p.Resolved)
		}
	}
}
