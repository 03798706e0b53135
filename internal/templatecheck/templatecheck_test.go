package templatecheck_test

import (
	"strings"
	"testing"
	"text/template"
	"text/template/parse"

	"processidea/internal/templatecheck"
)

type row struct {
	Name  string
	Inner *row
	Rows  []row
	ByID  map[string]row
	Any   any
}

func (row) First() row           { return row{} }
func (*row) Of(name string) *row { return nil }

func TestAMisspelledMemberIsFoundWhereverItIsRead(t *testing.T) {
	t.Parallel()
	functions := template.FuncMap{"dict": func(...any) map[string]any { return nil },
		"make": func() *row { return nil }}
	for text, lacks := range map[string]string{
		`{{.Name}}{{.Inner.Inner.First.Name}}`:                                    "",
		`{{range .Rows}}{{.Name}}{{end}}`:                                         "",
		`{{range $n, $r := .Rows}}{{$r.Name}}{{(.Of "x").Name}}{{end}}`:           "",
		`{{range $id, $r := .ByID}}{{$r.Name}}{{end}}{{.ByID.x.Name}}`:            "",
		`{{(index .Rows 0).Name}}{{(or .Inner .Inner).Name}}`:                     "",
		`{{template "part" dict "of" .Inner}}`:                                    "",
		`{{.Nme}}`:                                                                "Nme",
		`{{if .Name}}{{else if .Nme}}{{end}}`:                                     "Nme",
		`{{range .Rows}}{{.Nme}}{{end}}`:                                          "Nme",
		`{{range .ByID}}{{.Nme}}{{end}}`:                                          "Nme",
		`{{range .Rows}}{{else}}{{.Nme}}{{end}}`:                                  "Nme",
		`{{with .Inner}}{{.Nme}}{{end}}`:                                          "Nme",
		`{{with $x := .Inner}}{{$x.Nme}}{{end}}`:                                  "Nme",
		`{{$x := .}}{{range .Rows}}{{$x.Nme}}{{end}}`:                             "Nme",
		`{{$x := .Name}}{{$x = .Inner}}{{$x.Nme}}`:                                "Nme",
		`{{with .Name}}{{$.Nme}}{{end}}`:                                          "Nme",
		`{{(index .Rows 0).Nme}}`:                                                 "Nme",
		`{{make.Nme}}`:                                                            "Nme",
		`{{print (len .Nme)}}`:                                                    "Nme",
		`{{template "part" dict "of" .Inner}}{{template "part" dict "of" .Name}}`: "Name",
		`{{template "part" dict "off" .Inner}}`:                                   "of",
		`{{.Any.Name}}`:                                                           "Name",
		`{{.Of "on the pointer alone"}}`:                                          "Of",
	} {
		made, err := template.New("main").Funcs(functions).Parse(text + `{{define "part"}}{{.of.Name}}{{end}}`)
		if err != nil {
			t.Fatal(text, err)
		}
		found := templatecheck.Problems("main", row{}, functions,
			func(name string) *parse.Tree { return made.Lookup(name).Tree })
		if lacks == "" && len(found) > 0 ||
			lacks != "" && (len(found) != 1 || !strings.Contains(found[0], "there is no "+lacks+" in")) {
			t.Errorf("%s: %q", text, found)
		}
	}
}
