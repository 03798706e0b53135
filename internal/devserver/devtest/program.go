package devtest

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// Program builds a program, and gives the file. It lets "go run" do it, which keeps what it links for the next time;
// "go build" keeps nothing. dir is a folder in the program's module.
func Program(t testing.TB, dir, pkg string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	c := exec.CommandContext(t.Context(), "go", "run", "-buildvcs=false", "-exec", "cp", pkg, file)
	c.Dir = dir
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build %s in %s: %v\n%s\nif modules are missing there: go build -mod=mod", pkg, dir, err, said)
	}
	return file
}
