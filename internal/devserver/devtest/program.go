package devtest

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// BuildProgram builds a program and returns its file. It uses "go run", which caches the linked program, unlike "go
// build". dir is a folder in the program's module.
func BuildProgram(t testing.TB, dir, pkg string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	c := exec.CommandContext(t.Context(), "go", "run", "-buildvcs=false", "-exec", "cp", pkg, file)
	c.Dir = dir
	if output, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build %s in %s: %v\n%s\nif modules are missing there: go build -mod=mod", pkg, dir, err, output)
	}
	return file
}
