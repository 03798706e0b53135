package desk

import (
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"processidea/client/ideafiles"
	"processidea/gateway/api"
	"processidea/model/diag"
)

// maxUploadBytes bounds a form with files, in bytes. Each form also sends the texts of files that were chosen earlier.
const maxUploadBytes = 12 << 20

// readForm reads a form with its files, which stay in memory. Call done when the request has been answered.
func (v *visit) readForm() (release func(), err error) {
	maxBytes, parse := int64(maxFormBytes), v.ParseForm
	if strings.HasPrefix(v.Header.Get("Content-Type"), "multipart/form-data") {
		maxBytes, parse = maxUploadBytes, func() error { return v.ParseMultipartForm(maxUploadBytes) }
	}
	if _, release, err = v.Intake.Read(v.w, v.Request, maxBytes); err != nil {
		return release, err
	}
	if err = parse(); err != nil {
		err = api.Unprocessable("The form cannot be read: %s", err)
	}
	return release, err
}

// file is a file that somebody chose, or the text typed in its place. A browser does not keep a chosen file, so that
// pages carry its text.
type file struct{ Name, Text string }

// uploadedFiles gives the files that were chosen in a field.
func (v *visit) uploadedFiles(field string) (files []file, err error) {
	if v.MultipartForm == nil {
		return nil, nil
	}
	for _, h := range v.MultipartForm.File[field] {
		f, err := h.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(f)
		_ = f.Close()
		if err != nil {
			return nil, err
		}
		name := baseName(h.Filename)
		text, problem := ideafiles.UTF8Text(name, data)
		if problem != nil {
			return nil, ideafiles.ErrorFromProblems(name, diag.Problems{*problem})
		}
		files = append(files, file{name, string(text)})
	}
	return files, nil
}

// readFile returns the file of a field: the one chosen now, or the one that the page carries, or else the typed text.
func (v *visit) readFile(field, defaultName string) (file, error) {
	files, err := v.uploadedFiles(field)
	if err != nil {
		return file{}, err
	}
	if len(files) > 0 {
		return files[0], nil
	}
	f := file{baseName(v.PostForm.Get(field + "-name")), normalizeNewlines(v.PostForm.Get(field + "-text"))}
	if strings.TrimSpace(f.Text) == "" {
		return file{}, nil
	}
	if f.Name == "" {
		f.Name = defaultName
	}
	return f, nil
}

// normalizeNewlines replaces the browser's line ends of two characters.
func normalizeNewlines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// baseName removes the folders from a file name. No browser should send them.
func baseName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if name == "." || name == "/" || name == ".." {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return '_'
		}
		return r
	}, name)
}

// renameTypedRows names typed rows by their format, because they have no file name.
func (f *file) renameTypedRows() {
	text := strings.TrimSpace(f.Text)
	if f.Name == "rows.jsonl" && !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		f.Name = "rows.csv"
	}
}
