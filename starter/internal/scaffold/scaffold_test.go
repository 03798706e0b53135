package scaffold

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"text/template"
	"text/template/parse"

	"processidea/internal/templatecheck"
)

func TestATemplateReadsOnlyWhatThereIs(t *testing.T) {
	t.Parallel()
	made := 0
	err := fs.WalkDir(templateFiles, "files", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".tmpl") {
			return err
		}
		made++
		one, err := template.ParseFS(templateFiles, name)
		if err != nil {
			return err
		}
		for _, problem := range templatecheck.Problems(path.Base(name), templateData{}, nil,
			func(part string) *parse.Tree { return one.Lookup(part).Tree }) {
			t.Errorf("%s: %s", name, problem)
		}
		return nil
	})
	if err != nil || made == 0 {
		t.Fatal(made, err)
	}
}
