package ideafiles

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// Spreadsheets write tables in many ways and do not say which. What is certain is read; the rest is refused.

// saveAsUTF8Advice says what to do with a file whose text cannot be read with certainty.
const saveAsUTF8Advice = `save the file as UTF-8: a spreadsheet calls it "CSV UTF-8"`

// UTF8Text returns the text of a file of rows: UTF-8, with or without a byte order mark, or UTF-16 by its mark.
func UTF8Text(file string, data []byte) ([]byte, *diag.Problem) {
	text := data
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		decoded, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(data)
		if err != nil || len(data)%2 != 0 || bytes.ContainsRune(decoded, utf8.RuneError) {
			return nil, &diag.Problem{JSONPath: file, Message: "it begins as UTF-16 but is broken: " + saveAsUTF8Advice}
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
				Message: "this text is not UTF-8, so its letters cannot be read reliably: " + saveAsUTF8Advice}
		}
		if bytes.IndexByte(line, 0) >= 0 {
			return nil, &diag.Problem{JSONPath: place,
				Message: "there is a zero byte, as in UTF-16 without a byte order mark: " + saveAsUTF8Advice}
		}
	}
	return text, nil
}

// withLineFeeds returns a table with line feeds as line ends, and without DOS's end-of-file mark. Excel's "CSV
// (Macintosh)" has only carriage returns, with line feeds in cells; programs on Windows may write an extra one.
func withLineFeeds(text []byte) []byte {
	text = bytes.TrimRight(text, "\x1a")
	if bytes.Contains(text, []byte("\r\r\n")) {
		text = bytes.ReplaceAll(text, []byte("\r\r\n"), []byte("\n"))
	}
	var converted []byte
	inQuotes := false
	for n, b := range text {
		switch {
		case b == '"':
			inQuotes = !inQuotes
		case inQuotes || b != '\r' && b != '\n':
		case b == '\n', n+1 < len(text) && text[n+1] == '\n':
			return text
		default:
			if converted == nil {
				converted = bytes.Clone(text)
			}
			converted[n] = '\n'
		}
	}
	if converted == nil {
		return text
	}
	return converted
}

// encodingWarnings warns of letters that were lost, or mistaken for others, when the file was last saved.
func encodingWarnings(file string, text []byte) (ps diag.Problems) {
	n, hasLostLetter, hasTwiceEncodedLine := 0, false, false
	for line := range bytes.Lines(text) {
		n++
		if !hasLostLetter && bytes.ContainsRune(line, utf8.RuneError) {
			hasLostLetter = true
			ps.Warn(rowPlace(file, n), "a letter was lost when this was saved before: %q stands in its place; export "+
				"the file again", string(utf8.RuneError))
		}
		if !hasTwiceEncodedLine && isEncodedTwice(line) {
			hasTwiceEncodedLine = true
			ps.Warn(rowPlace(file, n), "some letters look like others in the wrong character set, as Ã¼ for ü: if so, "+
				"export the file again as UTF-8")
		}
	}
	return ps
}

// isEncodedTwice reports whether a line is UTF-8 that was read as Windows-1252, and saved as UTF-8 again.
func isEncodedTwice(line []byte) bool {
	if bytes.IndexFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return false
	}
	decoded, err := charmap.Windows1252.NewEncoder().Bytes(line)
	return err == nil && len(decoded) < len(line) && utf8.Valid(decoded)
}

// nonTablePattern finds the beginning of a web page, or of rows in JSON, in a file that is named like a table.
var nonTablePattern = regexp.MustCompile(`^\s*(?:<[!?A-Za-z]|(?:\[\s*)?\{\s*")`)

// separatorNames maps column separators to what people call them.
var separatorNames = map[rune]string{',': "a comma", ';': "a semicolon", '\t': "a tab"}

// detectSeparator returns the column separator of a CSV file, and its lines from the header on. Excel sets the
// separator with a first line sep=; otherwise it is the separator in the header, outside quotes: a bar only if there is
// no other. Empty lines at the beginning, as in reports, are skipped, and so is PowerShell's line above the header.
func detectSeparator(text []byte) (separator rune, tableText []byte, skippedLineCount int, err error) {
	first, rest, hasMore := bytes.Cut(text, []byte("\n"))
	for hasMore && len(bytes.TrimSpace(first)) == 0 {
		text, skippedLineCount = rest, skippedLineCount+1
		first, rest, hasMore = bytes.Cut(text, []byte("\n"))
	}
	if hasMore && powerShellTypePattern.Match(first) {
		text, skippedLineCount = rest, skippedLineCount+1
	}
	firstLine := strings.Trim(strings.TrimRight(string(first), "\r"), `"`)
	if len(firstLine) > len("sep=") && strings.EqualFold(firstLine[:len("sep=")], "sep=") {
		r, size := utf8.DecodeRuneInString(firstLine[len("sep="):])
		if len(firstLine) == len("sep=")+size {
			return r, rest, skippedLineCount + 1, nil
		}
	}
	foundSeparators := map[rune]bool{}
	inQuotes := false
	for _, r := range string(text) {
		if r == '"' {
			inQuotes = !inQuotes
		}
		if r == '\n' && !inQuotes {
			break
		}
		if (separatorNames[r] != "" || r == '|') && !inQuotes {
			foundSeparators[r] = true
		}
	}
	var foundSeparatorNames []string
	for r, name := range separatorNames {
		if foundSeparators[r] {
			separator, foundSeparatorNames = r, append(foundSeparatorNames, name)
		}
	}
	switch len(foundSeparatorNames) {
	case 0:
		if foundSeparators['|'] {
			return '|', text, skippedLineCount, nil
		}
		return ',', text, skippedLineCount, nil
	case 1:
		return separator, text, skippedLineCount, nil
	}
	slices.Sort(foundSeparatorNames)
	return 0, nil, 0, fmt.Errorf("the header has %s, so the separator of the columns is unclear: put quotes "+
		"around the names, or write sep=; (with your separator) in a line above the header",
		strings.Join(foundSeparatorNames, " and "))
}

// powerShellTypePattern finds the line in which PowerShell's Export-Csv names the type of the rows.
var powerShellTypePattern = regexp.MustCompile(`^\s*#TYPE \S`)

// checkTableLimits refuses a table with more cells than its limit, or a row with more cells than a spreadsheet has
// columns, before anything is read. lineNumber is the line of that row; 0: no row is too long. Quotes count as in
// encoding/csv, which reports wrong ones.
func checkTableLimits(text []byte, separator rune, limit jsonval.NodeLimit) (lineNumber int, err error) {
	separatorBytes := []byte(string(separator))
	remainingNodes, rowCount, cellCount, inQuotes := limit.MaxNodes(len(text)), 0, 0, false
	rowStartLine, nextLine := 1, 1
	for n, b := range text {
		if b == '\n' {
			nextLine++
		}
		switch {
		case b == '\n' && !inQuotes:
			rowStartLine, cellCount = nextLine, 0
			continue
		case cellCount == 0 && b != '\r': // an empty line is no row
			rowCount++
			remainingNodes, cellCount = remainingNodes-limit.NodesOfRow(rowCount)-1, 1
		}
		switch {
		case b == '"':
			inQuotes = !inQuotes
		case !inQuotes && bytes.HasPrefix(text[n:], separatorBytes):
			remainingNodes, cellCount = remainingNodes-1, cellCount+1
		}
		if cellCount > maxRowFields {
			return rowStartLine, fmt.Errorf("the row has more than %d cells; a spreadsheet has at most %d columns",
				maxRowFields,
				maxRowFields)
		}
		if remainingNodes < 0 {
			return 0, limit.ExceededError(len(text))
		}
	}
	return 0, nil
}

// isEmptyRow reports whether all cells of a row are empty. Spreadsheets write such rows if somebody once typed there.
func isEmptyRow(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) != "" })
}

// spreadsheetErrorPattern are the values of failed formulas, in the languages of spreadsheets.
var spreadsheetErrorPattern = regexp.MustCompile(`^(#(N/A|NV|N/D|(NAME|NOM|NOME|¿NOMBRE)\?|` +
	`¡?(DIV/0|REF|BEZUG|RIF|VALUE|WERT|VALEUR|VALOR|VALORE|NUM|NÚM|ZAHL|NOMBRE|NULL|NUL|NULO|SPILL|CALC)!|` +
	`GETTING_DATA|(FIELD|CONNECT|BLOCKED|UNKNOWN|BUSY|PYTHON|EXTERNAL)!|` +
	`Н/Д|ИМЯ\?|(ЗНАЧ|ССЫЛКА|ДЕЛ/0|ЧИСЛО|ПУСТО)!|N/B|NAAM\?|(WAARDE|DEEL/0|VERW|GETAL|LEEG)!|` +
	`NAZWA\?|(ARG|N/D|DZIEL/0|ADR|LICZBA|ZERO)!|I/T|NAVN\?|(VÆRDI|VERDI|DIVISION/0|REFERENCE)!|` +
	`NAMN\?|(SAKNAS|VÄRDEFEL|REFERENS|OGILTIGT)!|YOK|AD\?|(DEĞER|SAYI/0|BAŞV|SAYI)!)|` + //nolint:misspell // Swedish
	`(Err|Fehler|Erreur):5\d\d)$`)

// shortenedNumberPattern finds numbers that Excel shows, and writes, in this form because they have twelve digits or
// more.
var shortenedNumberPattern = regexp.MustCompile(`^-?\d([.,]\d{1,5})?E\+(1[1-9]|[2-9]\d)$`)

// spreadsheetDamageError says why a cell differs from its value in the spreadsheet; nil: it does not. types are the
// column's types.
func spreadsheetDamageError(text string, types []string) error {
	switch {
	case len(text) >= 3 && strings.Trim(text, "#") == "":
		return fmt.Errorf("the cell says %s, since its column was too narrow in the spreadsheet: widen the column, "+
			"and save the file again", text[:3])
	case spreadsheetErrorPattern.MatchString(text):
		return fmt.Errorf("the cell says %s, which is an error of the spreadsheet: mend its formula, or empty it", text)
	case shortenedNumberPattern.MatchString(text) && !slices.Contains(types, "number"):
		return fmt.Errorf("the cell says %s, as spreadsheets shorten long numbers, and its digits are lost: format "+
			"the column as text or as a whole number there; if it is a measure, give the column the type number", text)
	}
	return nil
}

// thousandsColumns says for columns with numbers whether every point has exactly three digits after it.
type thousandsColumns map[string]bool

var thousandsPointPattern = regexp.MustCompile(`^-?[1-9]\d{0,2}\.\d{3}$`)

func (t thousandsColumns) observe(row jsonval.Object) {
	for key, v := range row {
		if n, ok := v.(json.Number); ok && strings.Contains(n.String(), ".") {
			wasThousands, seen := t[key]
			t[key] = (wasThousands || !seen) && thousandsPointPattern.MatchString(n.String())
		}
	}
}

func (t thousandsColumns) warnings(file string) (ps diag.Problems) {
	for key, allThousands := range jsonval.Sorted(t) {
		if allThousands {
			ps.Warn(file, "the numbers of %q are read as decimals, 1.234 as a little more than 1: if they are "+
				"thousands, save the column without separators", key)
		}
	}
	return ps
}
