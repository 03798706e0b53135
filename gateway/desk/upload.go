package desk

import (
	"io"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"
)

// mostUpload is in bytes of what a form with files sends: all that is kept of earlier files comes again.
const mostUpload = 12 << 20

// mostOf is how large a form may be.
func mostOf(r *http.Request) int64 {
	if isMultipart(r) {
		return mostUpload
	}
	return mostForm
}

func isMultipart(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data")
}

// readForm reads a form, with the files that it brings, which stay in memory. Call done when the request has been
// answered.
func (d *Desk) readForm(w http.ResponseWriter, r *http.Request) (done func(), err error) {
	_, done, err = d.Intake.Read(w, r, mostOf(r))
	switch {
	case err != nil:
		return done, err
	case isMultipart(r):
		err = r.ParseMultipartForm(mostUpload)
	default:
		err = r.ParseForm()
	}
	if err != nil {
		err = unfit("The form cannot be read: %s", err)
	}
	return done, err
}

// file is a file that somebody chose, or the text typed in its place. A browser does not keep a chosen file, so that
// pages carry its text.
type file struct{ Name, Text string }

// uploaded gives the files that were chosen in a field.
func uploaded(r *http.Request, field string) (files []file, err error) {
	if r.MultipartForm == nil {
		return nil, nil
	}
	for _, h := range r.MultipartForm.File[field] {
		f, err := h.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(f)
		_ = f.Close()
		if err != nil {
			return nil, err
		}
		text := strings.TrimPrefix(string(data), "\ufeff")
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil, unfit(
				"%s is not a UTF-8 text: choose an Idea file (JSON or YAML), or rows (CSV or JSON Lines).",
				short(baseName(h.Filename)))
		}
		files = append(files, file{baseName(h.Filename), text})
	}
	return files, nil
}

// chosen is the file of a field: the one chosen now, or else the one that the page carries, or else the typed text.
func chosen(r *http.Request, field, usual string) (file, error) {
	files, err := uploaded(r, field)
	if err != nil {
		return file{}, err
	}
	if len(files) > 0 {
		return files[0], nil
	}
	f := file{baseName(r.PostForm.Get(field + "-name")), typed(r.PostForm.Get(field + "-text"))}
	if strings.TrimSpace(f.Text) == "" {
		return file{}, nil
	}
	if f.Name == "" {
		f.Name = usual
	}
	return f, nil
}

// typed is a text as it was before the browser ended its lines in two characters.
func typed(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// baseName is the name of a file without folders, as no browser should send them.
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

// nameRows names rows that were typed, and not chosen, by their form.
func (f *file) nameRows() {
	text := strings.TrimSpace(f.Text)
	if f.Name == "rows.jsonl" && !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		f.Name = "rows.csv"
	}
}
