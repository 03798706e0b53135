// Package house_test holds the folders of the repository to the drawing in ARCHITECTURE.md, and the documents to their
// links.
package house_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	root        = "../.."
	mostFolders = 18
)

var (
	arrows = regexp.MustCompile(`-->\s*(\w+)`)
	nodes  = regexp.MustCompile(`^\s*(\w+)|-->\s*(\w+)`)
)

// drawn reads what ARCHITECTURE.md draws: the folders that each folder may import. An arrow stands for all that are
// reached by it.
func drawn(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, drawing, found := strings.Cut(string(text), "```mermaid")
	drawing, _, closed := strings.Cut(drawing, "```")
	if !found || !closed {
		t.Fatal("ARCHITECTURE.md draws nothing")
	}
	drawing = regexp.MustCompile(`\["[^"]*"\]`).ReplaceAllString(drawing, "")
	to := map[string][]string{}
	for line := range strings.Lines(drawing) {
		if !arrows.MatchString(line) {
			continue
		}
		var row []string
		for _, m := range nodes.FindAllStringSubmatch(line, -1) {
			row = append(row, m[1]+m[2])
		}
		for n := range len(row) - 1 {
			to[row[n]] = append(to[row[n]], row[n+1])
		}
	}
	return to
}

// reach lists what a folder reaches, and fails where that is the folder itself.
func reach(t *testing.T, to map[string][]string, from string) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	var walk func(string)
	walk = func(at string) {
		for _, next := range to[at] {
			if next == from {
				t.Fatalf("%s reaches itself, by %s", from, at)
			}
			if !seen[next] {
				seen[next] = true
				walk(next)
			}
		}
	}
	walk(from)
	return seen
}

// imports are those of the Go files that are no tests: folder → imported folder → a file that imports it.
func imports(t *testing.T) map[string]map[string]string {
	t.Helper()
	of := map[string]map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root {
			// What is named after tests is for tests, as their files are.
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if err == nil || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "test") {
				return filepath.SkipDir
			}
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		within, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		folder, _, _ := strings.Cut(filepath.ToSlash(within), "/")
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		if of[folder] == nil {
			of[folder] = map[string]string{}
		}
		for _, i := range file.Imports {
			parts := strings.Split(strings.Trim(i.Path.Value, `"`), "/")
			if parts[0] == "processidea" && parts[1] != folder {
				of[folder][parts[1]] = within
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return of
}

func TestNoArrowBetweenFoldersRunsUp(t *testing.T) {
	t.Parallel()
	to := drawn(t)
	for folder, others := range imports(t) {
		reached := reach(t, to, folder)
		for other, file := range others {
			// What stands in internal is for all that may know the model.
			if !reached[other] && (other != "internal" || folder == "model") {
				t.Errorf("%s imports %s, which ARCHITECTURE.md does not draw below %s", file, other, folder)
			}
		}
	}
}

// Few folders stand at the top, so that a newcomer sees what there is.
func TestFewFoldersStandAtTheTop(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	folders := slices.DeleteFunc(entries,
		func(e fs.DirEntry) bool { return !e.IsDir() || strings.HasPrefix(e.Name(), ".") })
	if len(folders) > mostFolders {
		t.Errorf("%d folders stand at the top: %v", len(folders), folders)
	}
}
