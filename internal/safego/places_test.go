package safego_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is what this module's source code has of goroutines.
type source struct {
	Places   map[string]string // the folder of each place, from the root
	Named    map[string]bool   // dotted words in string literals of files that let goroutines panic
	Problems []string          // goroutines started in other ways
}

// exemptFolders are programs that run beside a worker and its gateway, and measure or show something: a fault is to end
// them.
var exemptFolders = []string{"bench", "examples"}

// readSource reads the whole module.
func readSource(t testing.TB) *source {
	t.Helper()
	root := "."
	for range 10 {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join(root, "..")
	}
	s := newSource()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, file)
		name = filepath.ToSlash(name)
		if d.IsDir() {
			_, own := os.Stat(filepath.Join(file, "go.mod"))
			if name != "." && (own == nil || slices.Contains(exemptFolders, name) || d.Name() == "testdata" ||
				strings.HasPrefix(d.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return s.Read(name, string(text))
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// placePattern matches possible names of places in a text.
var placePattern = regexp.MustCompile(`[A-Za-z]+(\.[A-Za-z]+)+`)

// newSource returns an empty Source.
func newSource() *source { return &source{Places: map[string]string{}, Named: map[string]bool{}} }

// Read reads a file.
func (s *source) Read(name, text string) error {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	isTest, panics := strings.HasSuffix(name, "_test.go"), false
	r := &reader{s, set, path.Dir(name)}
	for _, i := range f.Imports {
		switch i.Path.Value {
		case `"testing"`:
			isTest = true
		case `"processidea/internal/safego/safegotest"`:
			panics = true
		case `"golang.org/x/sync/errgroup"`:
			r.addProblem(i, "package errgroup")
		}
	}
	if isTest {
		s.Problems = slices.DeleteFunc(s.Problems, func(p string) bool { return strings.HasPrefix(p, name+":") })
		if panics {
			ast.Inspect(f, s.readTest)
		}
		return nil
	}
	if !strings.HasPrefix(name, "internal/safego/") {
		ast.Inspect(f, r.read)
	}
	return nil
}

func (s *source) readTest(n ast.Node) bool {
	if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		text, _ := strconv.Unquote(lit.Value)
		for _, word := range placePattern.FindAllString(text, -1) {
			s.Named[word] = true
		}
	}
	return true
}

type reader struct {
	*source
	set    *token.FileSet
	folder string
}

func (r *reader) addProblem(at ast.Node, what string) {
	if r.folder != "internal/safego" {
		r.Problems = append(r.Problems, fmt.Sprintf("%s: %s: a panic there ends the program; use package safego",
			r.set.Position(at.Pos()), what))
	}
}

func (r *reader) read(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		r.addProblem(n, "a go statement")
	case *ast.SelectorExpr:
		if name := nameOf(n); slices.Contains([]string{"time.AfterFunc", "context.AfterFunc", "safego.Inject"}, name) {
			r.addProblem(n, name)
		}
	case *ast.CallExpr:
		r.readCall(n)
	}
	return true
}

func nameOf(s *ast.SelectorExpr) string {
	x, _ := s.X.(*ast.Ident)
	if x == nil {
		return "." + s.Sel.Name
	}
	return x.Name + "." + s.Sel.Name
}

// readCall notes the place of a call that starts a goroutine, or that keeps a library's.
func (r *reader) readCall(c *ast.CallExpr) {
	f, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	name, at := nameOf(f), 0
	switch {
	case name == "workflow.Go": // Temporal's SDK starts it, and recovers
		return
	case name == "safego.AfterFunc" || name == "safego.AfterDone" || name == "safego.Each":
		at = 1
	case f.Sel.Name != "Go" && name != "safego.Run" && name != "safego.Wait" && name != "safemcp.Middleware":
		return
	}
	place, ok := c.Args[at].(*ast.BasicLit)
	if !ok || place.Kind != token.STRING {
		r.addProblem(c, name+" without the name of its place")
		return
	}
	text, _ := strconv.Unquote(place.Value)
	if _, twice := r.Places[text]; twice {
		r.addProblem(c, "the place "+text+" is there twice")
	}
	r.Places[text] = r.folder
}
