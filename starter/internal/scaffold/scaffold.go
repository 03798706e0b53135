// Package scaffold writes a user's first process: the files of a folder, made from the templates in files/.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"text/template"

	"processidea/client/ideafiles"
)

//go:embed files
var templateFiles embed.FS

// Options say what is written.
type Options struct {
	TargetFolder      string // it is created; if it exists, it must be empty
	ProgramName       string // the command, as its user calls it
	CheckoutFolder    string // a checkout of Process Idea, for the Go program; empty: no Go program
	UsesHTTP          bool   // the Tools call HTTP servers and the instances come from a table; there is no Go program
	InstanceTableFile string // a file with the instances, for HTTP; empty: three invented ones
}

// File is a written file, by its name in the folder.
type File struct{ Name, Description string }

// filesToWrite lists the files in the order in which a reader looks at them.
func (o Options) filesToWrite() []File {
	list := []File{
		{"README.md", "how to go on"},
		{"idea.json", "the process: its Tools, what is known, what State must hold at the end"},
		{"replies.jsonl", "what a scripted LLM answers, as long as you have configured none"},
	}
	switch {
	case o.UsesHTTP:
		list = append(list, File{tableFileName, "the instances, a row each"})
	case o.CheckoutFolder != "":
		list = append(list,
			File{"main.go", "a Tool of your own in a program that is all of starter and worker"},
			File{"main_test.go", "what must hold, tested on the real engine"})
	}
	return list
}

// templateFileOf is the template of a file.
func (o Options) templateFileOf(file string) string {
	if o.UsesHTTP {
		return "http/" + file + ".tmpl"
	}
	return file + ".tmpl"
}

var projectNamePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)

// Write writes the files and lists them. It changes nothing that exists.
func Write(o Options) ([]File, error) {
	folder, err := filepath.Abs(o.TargetFolder)
	if err != nil {
		return nil, err
	}
	projectName := filepath.Base(folder)
	if !projectNamePattern.MatchString(projectName) {
		return nil,
			fmt.Errorf("%q is not a valid name: want up to 40 letters, digits, - and _, beginning with a letter",
				projectName)
	}
	contentByFile := map[string][]byte{"idea.schema.json": ideafiles.Schema}
	if o.CheckoutFolder != "" {
		if err := addGoMod(contentByFile, projectName, o.CheckoutFolder); err != nil {
			return nil, err
		}
	}
	data := newTemplateData(o, projectName)
	files := o.filesToWrite()
	if o.UsesHTTP {
		t, err := o.readTable()
		if err != nil {
			return nil, err
		}
		contentByFile[tableFileName], data.Table = t.csvData, t
	}
	for _, f := range files {
		if contentByFile[f.Name] != nil {
			continue
		}
		if contentByFile[f.Name], err = fillTemplate(o.templateFileOf(f.Name), data); err != nil {
			return nil, err
		}
	}
	if contentByFile[".gitignore"], err = fillTemplate("gitignore.tmpl", data); err != nil {
		return nil, err
	}
	return files, writeFiles(folder, contentByFile)
}

// templateData are what the templates read.
type templateData struct {
	Name, Program, DocsHint, Command string
	HasGoProgram                     bool // there is a Go program
	Table                            instanceTable
}

func newTemplateData(o Options, projectName string) templateData {
	c := templateData{Name: projectName, HasGoProgram: o.CheckoutFolder != "", Program: o.ProgramName,
		Command: o.ProgramName}
	if o.CheckoutFolder != "" {
		c.DocsHint = "Everything else is in " + filepath.ToSlash(filepath.Join(o.CheckoutFolder, "docs")) + "."
		c.Command = "go run ."
	}
	return c
}

// newModulePath returns a module path that cannot clash with another module, whatever the name.
func newModulePath(projectName string) string { return "example.com/" + strings.ToLower(projectName) }

func fillTemplate(templateName string, data templateData) ([]byte, error) {
	t, err := template.New(path.Base(templateName)).ParseFS(templateFiles, "files/"+templateName)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = t.Execute(&text, data)
	return text.Bytes(), err
}

// addGoMod adds go.mod and go.sum. They are copied from the example that imports the same packages, so that nothing
// needs to be downloaded.
func addGoMod(contentByFile map[string][]byte, projectName, checkout string) error {
	exampleFolder := filepath.Join(checkout, "examples", "custom-worker")
	mod, err := os.ReadFile(filepath.Join(exampleFolder, "go.mod"))
	if err != nil {
		return fmt.Errorf("read the modules of Process Idea: %w", err)
	}
	sum, err := os.ReadFile(filepath.Join(exampleFolder, "go.sum"))
	if err != nil {
		return fmt.Errorf("read the modules of Process Idea: %w", err)
	}
	text := strings.Replace(string(mod), "module custom-worker", "module "+newModulePath(projectName), 1)
	text = strings.Replace(text, "=> ../../internal/devserver",
		"=> "+quoteModulePath(filepath.Join(checkout, "internal", "devserver")), 1)
	text = strings.Replace(text, "processidea => ../..", "processidea => "+quoteModulePath(checkout), 1)
	if _, body, ok := strings.Cut(text, "\nmodule "); ok {
		text = "// replace says where your checkout of Process Idea is.\nmodule " + body
	}
	contentByFile["go.mod"], contentByFile["go.sum"] = []byte(text), sum
	return nil
}

// quoteModulePath quotes a path where go.mod needs it.
func quoteModulePath(path string) string {
	if strings.ContainsAny(path, " \t\"'`(),") {
		return fmt.Sprintf("%q", path)
	}
	return path
}

func writeFiles(folder string, contentByFile map[string][]byte) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("the folder %s is not empty: choose another name", folder)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, content := range contentByFile {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// FindCheckout finds the checkout that this program was built from, or that the working directory is in. The error says
// why there can be no Go program: no go command, or no checkout.
func FindCheckout() (string, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", errors.New("the command go is not in PATH")
	}
	_, sourceFile, _, _ := runtime.Caller(0)
	workDir, err := os.Getwd()
	if err != nil {
		workDir = sourceFile
	}
	for _, start := range []string{sourceFile, workDir} {
		for dir := filepath.Dir(start); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if CheckCheckout(dir) == nil {
				return dir, nil
			}
		}
	}
	return "",
		errors.New("the checkout of Process Idea that this program was built from no longer exists: name another " +
			"one with --checkout")
}

// CheckCheckout reports whether a folder is a checkout of Process Idea.
func CheckCheckout(dir string) error {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err == nil && !bytes.HasPrefix(bytes.TrimSpace(mod), []byte("module processidea\n")) {
		err = errors.New("its go.mod names another module")
	}
	if err != nil {
		return fmt.Errorf("%s is not a checkout of Process Idea: %w", dir, err)
	}
	return nil
}
