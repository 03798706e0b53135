package ideafiles

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"processidea/model/diag"
)

// Spreadsheets write tables in many ways and do not say which. What can be told for sure is read, the rest is refused.

// saveAsUTF8 is what to do with a file whose text cannot be read for sure.
const saveAsUTF8 = `save the file as UTF-8: a spreadsheet calls it "CSV UTF-8"`

// UTF8Text returns the text of a file of rows: UTF-8, with or without a byte order mark, or UTF-16 by its mark.
func UTF8Text(file string, data []byte) ([]byte, *diag.Problem) {
	text := data
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		decoded, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(data)
		if err != nil || len(data)%2 != 0 || bytes.ContainsRune(decoded, utf8.RuneError) {
			return nil, &diag.Problem{JSONPath: file, Message: "it begins as UTF-16 but is broken: " + saveAsUTF8}
		}
		text = decoded
	}
	text = bytes.TrimPrefix(text, byteOrderMark)
	if utf8.Valid(text) && bytes.IndexByte(text, 0) < 0 {
		return text, nil
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		place := fmt.Sprintf("%s:%d", file, n)
		if !utf8.Valid(line) {
			return nil, &diag.Problem{JSONPath: place,
				Message: "this text is not UTF-8, so its letters cannot be read reliably: " + saveAsUTF8}
		}
		if bytes.IndexByte(line, 0) >= 0 {
			return nil, &diag.Problem{JSONPath: place,
				Message: "there is a zero byte, as in UTF-16 without a byte order mark: " + saveAsUTF8}
		}
	}
	return text, nil
}

// separatorNames are what separates the columns of tables, as people call it.
var separatorNames = map[rune]string{',': "a comma", ';': "a semicolon", '\t': "a tab"}

// separatorOf returns the column separator of a CSV file, and its lines from the header on. A first line sep= sets the
// separator, as Excel writes it; otherwise it is the separator found in the header, outside quotes.
func separatorOf(text []byte) (separator rune, lines []byte, skipped int, err error) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	firstLine := strings.Trim(strings.TrimRight(string(first), "\r"), `"`)
	if len(firstLine) > len("sep=") && strings.EqualFold(firstLine[:len("sep=")], "sep=") {
		r, size := utf8.DecodeRuneInString(firstLine[len("sep="):])
		if len(firstLine) == len("sep=")+size {
			return r, rest, 1, nil
		}
	}
	found := map[rune]bool{}
	quoted := false
	for _, r := range string(text) {
		if r == '"' {
			quoted = !quoted
		}
		if r == '\n' && !quoted {
			break
		}
		if separatorNames[r] != "" && !quoted {
			found[r] = true
		}
	}
	var names []string
	for r, name := range separatorNames {
		if found[r] {
			separator, names = r, append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return ',', text, 0, nil
	case 1:
		return separator, text, 0, nil
	}
	slices.Sort(names)
	return 0, nil, 0, fmt.Errorf("the header has %s, so the separator of the columns is unclear: put quotes "+
		"around the names, or write sep=; (with your separator) in a line above the header",
		strings.Join(names, " and "))
}

// isEmptyRow reports whether a row has no cell with anything in it. Spreadsheets write such rows where somebody once
// typed.
func isEmptyRow(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) != "" })
}
