package chain

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The lines of Python in docs/audit.md are what somebody checks a chain with who does not trust this program.
func TestThePythonOfTheDocumentationChecksAnExport(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	page, err := os.ReadFile("../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```python\n")
	code, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/audit.md holds no Python")
	}
	script := filepath.Join(t.TempDir(), "check.py")
	if err := os.WriteFile(script, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(input []byte) string {
		t.Helper()
		c := exec.Command(python, script)
		c.Stdin, c.Stderr = bytes.NewReader(input), os.Stderr
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	s := newShelf(t)
	story := newStory(t, s, "p")
	story.grow(2)
	story.seal(idea(t, `{"": {"big": 123456789012345678901234567890, "float": 1.50E+3, "minus": -0.0, "text": "é\u2028<&>\u0001\t\u007f\"\\/ 😀", "é": 1, "z": 1, "Z": [], "none": null, "yes": true}}`, noCalls, ""))
	data := exported(t, s, "p")
	out := check(data)
	if strings.Count(out, " good\n") != 3 || strings.Contains(out, "BROKEN") || !strings.Contains(out, "3 "+story.last) {
		t.Errorf("of a chain that is whole it says\n%s", out)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	third := object(t, string(lines[3]))["idea"]
	if out := check([]byte(jsonOf(third))); strings.Count(out, " good\n") != 1 {
		t.Errorf("of what show prints it says\n%s", out)
	}
	changed := bytes.Replace(data, []byte("1.50E+3"), []byte("1.5E+3"), 1)
	if out := check(changed); strings.Count(out, " good\n") != 2 || !strings.Contains(out, "3 "+story.last+" BROKEN") {
		t.Errorf("of a changed number it says\n%s", out)
	}
	if out := check(bytes.Join([][]byte{lines[0], lines[1], lines[3]}, nil)); !strings.Contains(out, "BROKEN") {
		t.Errorf("of a chain with a gap it says\n%s", out)
	}
}
