package house_test

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var (
	codeBlock = regexp.MustCompile("(?s)```.*?\n\\s*```")
	linkTo    = regexp.MustCompile(`\]\((?:<([^>]*)>|([^)\s]+))\)`)
	kindOf    = regexp.MustCompile(`(?m)^\*\*(Tutorial|How-to|Reference|Explanation)(\.\*\*|\*\*[,.])`)
)

// page is a document without its blocks of code.
func page(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return codeBlock.ReplaceAllString(string(text), "")
}

// anchors are the names by which links reach the headings of a page.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		found[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(strings.TrimLeft(line, "#")))] = true
	}
	return found
}

// pages lists the documents: those at the top, in docs, and beside the examples and benchmarks.
func pages(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*.md", "examples/*/*.md", "bench/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

func TestEveryLinkOfTheDocumentsLeadsSomewhere(t *testing.T) {
	t.Parallel()
	for _, file := range pages(t) {
		for _, m := range linkTo.FindAllStringSubmatch(page(t, file), -1) {
			to := m[1] + m[2]
			path, anchor, _ := strings.Cut(to, "#")
			if path, _ = url.PathUnescape(path); strings.Contains(path, ":") {
				continue // elsewhere
			}
			target := file
			if path != "" {
				target = filepath.Join(filepath.Dir(file), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s: there is no such file", file, to)
			} else if anchor != "" && strings.HasSuffix(target, ".md") && !anchors(page(t, target))[anchor] {
				t.Errorf("%s: %s: there is no such heading", file, to)
			}
		}
	}
}

func TestEveryPageSaysOfWhichKindItIs(t *testing.T) {
	t.Parallel()
	for _, file := range pages(t) {
		if filepath.Base(filepath.Dir(file)) == "docs" && !kindOf.MatchString(page(t, file)) {
			t.Errorf("%s is no tutorial, how-to, reference or explanation", file)
		}
	}
}

func TestTheDocumentsSayEachThingOnce(t *testing.T) {
	t.Parallel()
	const maxWords = 30_000
	words := 0
	for _, file := range pages(t) {
		if dir := filepath.Dir(file); dir != root && filepath.Base(dir) != "docs" || filepath.Base(file) == "CHANGELOG.md" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		words += len(strings.Fields(string(text)))
	}
	if words > maxWords {
		t.Errorf("they have %d words, over %d: say it where it belongs, and nowhere else", words, maxWords)
	}
}

func TestPagesFitOnAScreen(t *testing.T) {
	t.Parallel()
	const maxColumns = 120
	for _, file := range pages(t) {
		for line := range strings.Lines(page(t, file)) {
			line = strings.TrimRight(line, "\n")
			// Rows of tables and addresses cannot be broken.
			if utf8.RuneCountInString(line) > maxColumns && !strings.HasPrefix(line, "|") &&
				strings.Contains(line, " ") {
				t.Errorf("%s: a line has over %d columns: %s", file, maxColumns, line)
			}
		}
	}
}

func TestANewcomerReadsTheREADMEInAFewMinutes(t *testing.T) {
	t.Parallel()
	const maxWords = 1500
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(text))); n > maxWords {
		t.Errorf("README.md has %d words, over %d", n, maxWords)
	}
}
