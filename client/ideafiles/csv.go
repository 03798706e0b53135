package ideafiles

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// Column is one column of a table.
type Column struct {
	Name           string
	Type           string // the common type of its values, as in JSON Schema
	HasNoEmptyCell bool   // no cell of it is empty
}

// CSVInputColumns returns the input columns of a CSV, in their order, or everything that is wrong with it.
func CSVInputColumns(path string, data []byte) (list []Column, ps diag.Problems) {
	if _, _, ps = readRowsAsMessages(path, data, &ideafile.Idea{},
		jsonval.TrustedTableNodeLimit); len(ps.Errors()) > 0 {
		return nil, ps.Errors()
	}
	text, _ := UTF8Text(path, data)
	inferredTypes := inferredColumnTypes{}
	rows, header, _ := readTable(path, text, &ideafile.Idea{}, inferredTypes, jsonval.TrustedTableNodeLimit)
	for _, name := range header {
		if name == "type" || name == "_instance" {
			continue
		}
		c := Column{Name: name, Type: cmp.Or(inferredTypes[ideafile.TypeInput][name], "string"), HasNoEmptyCell: true}
		for _, r := range rows {
			c.HasNoEmptyCell = c.HasNoEmptyCell && r.fields[name] != ""
		}
		list = append(list, c)
	}
	return list, nil
}

// readCSV reads rows under a header. A field is a text unless the schema of the row's message gives its column another
// type. A row without a type is an input.
func readCSV(file string, data []byte, idea *ideafile.Idea, limit jsonval.NodeLimit) ([]row, diag.Problems) {
	inferredTypes := inferredColumnTypes{}
	rows, _, ps := readTable(file, data, idea, inferredTypes, limit)
	ps.Append(inferredTypes.warnings(file)...)
	if powerShellTypePattern.Match(data) {
		ps.Warn(file, "the line #TYPE above the header is left out: it is PowerShell's, and no column's name")
	}
	return rows, ps
}

// readTable reads the rows and the header, and adds the columns without a type in the Idea to untyped.
func readTable(
	file string, data []byte, idea *ideafile.Idea, inferredTypes inferredColumnTypes, limit jsonval.NodeLimit,
) (rows []row, header []string, ps diag.Problems) {
	separator, tableText, skippedLineCount, err := detectSeparator(withLineFeeds(data))
	if err != nil {
		return nil, nil, diag.Problems{{JSONPath: file + ":1", Message: err.Error()}}
	}
	if lineNumber, err := checkTableLimits(tableText, separator, limit); lineNumber > 0 {
		return nil, nil, diag.Problems{{JSONPath: rowPlace(file, skippedLineCount+lineNumber), Message: err.Error()}}
	} else if err != nil {
		return nil, nil, diag.Problems{{JSONPath: file, Message: err.Error()}}
	}
	r := csv.NewReader(bytes.NewReader(tableText))
	r.Comma, r.FieldsPerRecord = separator, -1
	header, err = readHeader(r)
	if errors.Is(err, io.EOF) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, diag.Problems{csvProblem(file, skippedLineCount, err)}
	}
	sharedView := ideafile.InstanceViewOf(idea.Context, "")
	if missingMessage := missingColumnsMessage(header, sharedView); missingMessage != "" {
		return nil, nil, diag.Problems{{JSONPath: fmt.Sprintf("%s:%d", file, skippedLineCount+1),
			Message: missingMessage}}
	}
	schemaByKind, emptyRowCount, columns, thousands := sharedView.SchemaByKind, 0, columnCache{}, thousandsColumns{}
	r.ReuseRecord = true // only the list of cells is reused, not their texts
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			ps.Append(tableWarnings(file, emptyRowCount, separator, thousands)...)
			ps.Append(headerWarnings(rowPlace(file, skippedLineCount+1), header, sharedView)...)
			return rows, header, ps
		}
		if err == nil && isEmptyRow(cells) {
			emptyRowCount++
			continue
		}
		lineNumber := 0
		if err == nil {
			lineNumber, _ = r.FieldPos(0)
			cells, err = trimAndCheckCells(cells, header, lineNumber)
		}
		if err != nil {
			ps.Append(csvProblem(file, skippedLineCount, err))
			return rows, header, ps
		}
		row := row{file: file, lineNumber: skippedLineCount + lineNumber, fields: make(jsonval.Object, len(header))}
		rowProblems := row.fill(header, cells, schemaByKind, inferredTypes, columns)
		row.hasInvalidCell = len(rowProblems) > 0
		thousands.observe(row.fields)
		ps.Append(rowProblems...)
		rows = append(rows, row)
	}
}

func readHeader(r *csv.Reader) ([]string, error) {
	header, err := r.Read()
	if err != nil {
		return nil, err
	}
	return columnNames(header)
}

func tableWarnings(file string, emptyRowCount int, separator rune, thousands thousandsColumns) (ps diag.Problems) {
	if emptyRowCount > 0 {
		ps.Warn(file, "%d empty rows are left out", emptyRowCount)
	}
	if separator != ',' { // only people who use another separator write a comma in decimals, and a point in thousands
		ps.Append(thousands.warnings(file)...)
	}
	return ps
}

// headerWarnings warns if whole lines of a table are in quotes, and if a column's name resembles an input that no
// column has, such as Amount for amount.
func headerWarnings(place string, header []string, sharedView ideafile.InstanceView) (ps diag.Problems) {
	if len(header) == 1 && strings.ContainsAny(header[0], ",;\t|") {
		ps.Warn(place, "the only column is named %q: if these are several, remove the quotes around "+
			"whole lines", header[0])
	}
	if slices.Contains(header, "type") { // shared by rows of several kinds
		return ps
	}
	properties := jsonschema.Properties(sharedView.SchemaByKind[ideafile.TypeInput])
	sharedInput := jsonval.AsObject(sharedView.PayloadByKind[ideafile.TypeInput])
	missingNames := jsonval.Filter(jsonval.SortedKeys(properties), func(name string) bool {
		_, known := sharedInput[name]
		return !known && !slices.Contains(header, name)
	})
	for _, name := range header {
		nearest := diag.NearestName(name, missingNames)
		if _, known := properties[name]; nearest != "" && !known && name != "_instance" {
			ps.Warn(place, "the schema of the input has no %q, and no column is named %q: if they are the same, give "+
				"the column that name", name, nearest)
		}
	}
	return ps
}

// columnNames returns the names in a header, without invisible characters around them. Columns without a name after the
// last one are ignored: spreadsheets write such columns if somebody once typed there.
func columnNames(header []string) (names []string, err error) {
	seen := map[string]bool{}
	for n, key := range header {
		key = columnName(key)
		switch {
		case key == "":
			if err == nil {
				err = fmt.Errorf("column %d has no name: give it one, or remove the column", n+1)
			}
			continue
		case err != nil: // an earlier column has no name
			return nil, err
		case seen[key]:
			return nil, fmt.Errorf("two columns are named %q", key)
		}
		seen[key] = true
		names = append(names, key)
	}
	if len(names) > 0 {
		err = nil
	}
	return names, err
}

func columnName(cell string) string {
	return strings.TrimFunc(cell, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
}

// repeatsHeader reports whether the cells of a row are the names of its columns. One cell alone may be equal by chance.
func repeatsHeader(cells, header []string) bool {
	for n, cell := range cells {
		if columnName(cell) != header[n] {
			return false
		}
	}
	return len(cells) > 1
}

// trimAndCheckCells returns the cells of a row, one for each column. Empty cells after them are dropped.
func trimAndCheckCells(cells, header []string, lineNumber int) ([]string, error) {
	for len(cells) > len(header) && strings.TrimSpace(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1]
	}
	switch {
	case len(cells) != len(header):
		return nil,
			&csv.ParseError{Line: lineNumber, Err: errors.New("the row has more or fewer cells than the header")}
	case repeatsHeader(cells, header):
		return nil, &csv.ParseError{Line: lineNumber,
			Err: errors.New("the row repeats the header, as where two tables were put into one: remove it")}
	}
	return cells, nil
}

// missingColumnsMessage reports the columns that the schema of the input requires and the header lacks. If rows of
// several kinds share the header, each row is checked separately instead.
func missingColumnsMessage(header []string, sharedView ideafile.InstanceView) string {
	if slices.Contains(header, "type") {
		return ""
	}
	sharedInput := jsonval.AsObject(sharedView.PayloadByKind[ideafile.TypeInput])
	requiredNames, _ := jsonval.AsStringList(jsonval.AsObject(sharedView.SchemaByKind[ideafile.TypeInput])["required"])
	var missingNames []string
	for _, name := range requiredNames {
		if _, known := sharedInput[name]; !known && !slices.Contains(header, name) {
			missingNames = append(missingNames, strconv.Quote(name))
		}
	}
	if len(missingNames) == 0 {
		return ""
	}
	quotedNames := jsonval.Map(header, strconv.Quote)
	return fmt.Sprintf("the schema of the input requires %s, but no column has that name; the columns are %s",
		strings.Join(missingNames, ", "), diag.SummarizeNames(quotedNames))
}

// csvProblem makes a Problem from an error of encoding/csv, with its line if it has one. skippedLineCount counts the
// lines above the table.
func csvProblem(file string, skippedLineCount int, err error) diag.Problem {
	var parseErr *csv.ParseError
	if errors.As(err, &parseErr) {
		message := parseErr.Err.Error()
		switch {
		case errors.Is(parseErr.Err, csv.ErrBareQuote):
			message = "a quote stands in a cell that does not begin with one: put the whole cell in quotes, and " +
				"write each quote in it twice"
		case errors.Is(parseErr.Err, csv.ErrQuote):
			message = "a cell that begins with a quote has none at its end: write each quote in it twice"
		}
		return diag.Problem{JSONPath: fmt.Sprintf("%s:%d", file, skippedLineCount+parseErr.Line), Message: message}
	}
	return diag.Problem{JSONPath: file + ":1", Message: err.Error()}
}

// fill puts the cells of a line under their keys. Messages of different types share one header, so an empty cell of a
// row with a type is left out.
func (r row) fill(header, cells []string, schemaByKind jsonval.Object, inferredTypes inferredColumnTypes,
	columns columnCache) (ps diag.Problems) {
	kind := ideafile.TypeInput
	for n, key := range header {
		if key == "type" && cells[n] != "" {
			kind = cells[n]
		}
	}
	isOtherMessage := kind != ideafile.TypeInput
	for n, key := range header {
		text := quotedNumberPattern.ReplaceAllString(cells[n], "$1")
		isMeta := key == "_instance" || key == "type"
		c := columns.column(kind, key, schemaByKind[kind])
		if c.isNull(text) {
			text = ""
		}
		if text == "" && (isMeta || isOtherMessage) {
			continue
		}
		if isMeta {
			r.fields[key] = text
			continue
		}
		if len(c.types) == 0 {
			inferredTypes.observe(kind, key, text)
		}
		v, shouldKeep, err := c.parseCell(text)
		if err != nil {
			ps.Add(r.place()+" "+jsonval.JSONPathWithKeys("$", key), "%s", err)
		}
		if shouldKeep {
			r.fields[key] = v
		}
	}
	return ps
}

// inferredColumnTypes holds, by the kind of data and the column, the type of all cells of a column that no schema
// types. "" means a text.
type inferredColumnTypes map[string]map[string]string

// observe notes one cell. An empty cell says nothing about the type.
func (u inferredColumnTypes) observe(kind, column, text string) {
	previousType, seen := u[kind][column]
	if text == "" || seen && previousType == "" {
		return
	}
	if u[kind] == nil {
		u[kind] = map[string]string{}
	}
	cellType := ""
	for _, t := range []string{"number", "boolean"} {
		if _, ok := parseAs(text, t); ok {
			cellType = t
		}
	}
	if seen && previousType != cellType {
		cellType = ""
	}
	u[kind][column] = cellType
}

// warnings proposes types for columns that contain only numbers or only booleans, but are read as texts.
func (u inferredColumnTypes) warnings(file string) (ps diag.Problems) {
	for kind, columns := range jsonval.Sorted(u) {
		properties, columnTexts := jsonval.Object{}, []string{}
		for column, t := range jsonval.Sorted(columns) {
			if t != "" {
				properties[column] = jsonval.Object{"type": t}
				columnTexts = append(columnTexts, fmt.Sprintf("%q (%s)", column, t))
			}
		}
		if len(columnTexts) == 0 {
			continue
		}
		messageJSON := jsonval.Encode(jsonval.Object{"type": kind, "schema": jsonval.Object{"properties": properties}})
		ps.Warn(file+":1", `these columns were read as texts, because the Idea gives them no type: %s. If a column is `+
			`what it looks like, add its type to the Idea's context: %s; if it is a text, write "string" there`,
			diag.SummarizeNames(columnTexts), messageJSON)
	}
	return ps
}

// typesOf lists the types that the schema allows in a column; none means a text.
func typesOf(schema any, column string) []string {
	path := jsonval.Path{column}
	types := jsonschema.TypesAt(schema, path)
	if types == nil {
		node := jsonschema.SubschemaAt(schema, path).Node
		for _, v := range slices.Concat(jsonval.AsList(jsonval.Lookup(node, "enum")),
			[]any{jsonval.Lookup(node, "const")}) {
			if v != nil {
				types = jsonval.AppendNew(types, jsonschema.SchemaTypeOf(v))
			}
		}
	}
	return types
}

// parseCell reads a cell as the first of its column's types that fits; a text comes last. shouldKeep is false for an
// empty cell, which has no value, unless the column allows a text or null.
func parseCell(text string, types []string) (v any, shouldKeep bool, err error) {
	if text == "" && slices.Contains(types, "null") {
		return nil, true, nil
	}
	allowsText := len(types) == 0 || slices.Contains(types, "string")
	if text == "" {
		return text, allowsText, nil
	}
	if err := spreadsheetDamageError(text, types); err != nil {
		return nil, false, err
	}
	for _, t := range types {
		if v, ok := parseAs(text, t); ok {
			return v, true, nil
		}
	}
	if !allowsText {
		err = fmt.Errorf("want %s, not %q", strings.Join(types, " or "), text)
		if slices.Contains(types, "boolean") {
			err = fmt.Errorf("%w: a boolean is written true or false", err)
		} else if groupedNumberPattern.MatchString(text) {
			err = fmt.Errorf("%w: thousands are not separated, and a decimal is written with a point", err)
		} else if decimalCommaPattern.MatchString(text) {
			err = fmt.Errorf("%w: a decimal is written with a point", err)
		}
		return nil, false, err
	}
	return text, true, nil
}

// columnCache holds the columns, by the kind of data and the name.
type columnCache map[[2]string]*cachedColumn

// cachedColumn caches the values of a column's cells, so that a repeated value is kept in memory once.
type cachedColumn struct {
	schema      any      // the schema of a cell; nil: none
	types       []string // the types that a cell may have
	valueByText jsonval.Object
}

// maxCachedCells bounds the cached values of a column.
const maxCachedCells = 256

// absentCell stands for an empty cell without a value.
type absentCell struct{}

func (k columnCache) column(kind, name string, schema any) *cachedColumn {
	key := [2]string{kind, name}
	if k[key] == nil {
		k[key] = &cachedColumn{jsonschema.SubschemaAt(schema, jsonval.Path{name}).Node, typesOf(schema, name),
			jsonval.Object{}}
	}
	return k[key]
}

// isNull reports whether a cell is empty as databases export it: \N, or NULL in a column that has no texts.
func (c *cachedColumn) isNull(text string) bool {
	return text == `\N` ||
		strings.EqualFold(text, "NULL") && len(c.types) > 0 && !slices.Contains(c.types, "string")
}

func (c *cachedColumn) parseCell(text string) (v any, shouldKeep bool, err error) {
	if v, known := c.valueByText[text]; known {
		return v, v != absentCell{}, nil
	}
	v, shouldKeep, err = parseCell(text, c.types)
	if text == "" && (!shouldKeep || v == "" && !takesEmptyText(c.schema)) {
		v, shouldKeep = absentCell{}, false
	}
	if err == nil && len(c.valueByText) < maxCachedCells {
		c.valueByText[text] = v
	}
	return v, shouldKeep, err
}

// takesEmptyText reports whether a column may contain an empty text: a column of dates, for example, may not.
func takesEmptyText(schema any) bool {
	if schema == nil {
		return true
	}
	s, err := jsonschema.CompileSchema(schema)
	return err != nil || s.Validate("") == nil
}

var (
	// decimalCommaPattern finds 12,50 and 1.234,50.
	decimalCommaPattern = regexp.MustCompile(`^\s*-?[\d.]+,\d+\s*$`)
	// quotedNumberPattern finds ="007", which makes a spreadsheet show digits as a text.
	quotedNumberPattern = regexp.MustCompile(`^="([^"]*)"$`)
	// groupedNumberPattern finds 1,234.50 and 1 234,50.
	groupedNumberPattern = regexp.MustCompile(`^\s*-?\d{1,3}([ .,'’\x{a0}\x{202f}]\d{3})+([.,]\d+)?\s*$`)
)

// parseAs reads a cell as a type other than a text. Spreadsheets write TRUE and FALSE, and spaces around amounts.
func parseAs(text, wantType string) (any, bool) {
	text = strings.TrimSpace(text)
	if wantType == "boolean" {
		text = strings.ToLower(text)
	}
	v, err := jsonval.Decode([]byte(text))
	if err != nil {
		return nil, false
	}
	actual := jsonval.TypeOf(v)
	if wantType == "integer" && actual == "number" {
		n, ok := new(big.Rat).SetString(text)
		return v, ok && n.IsInt() && !thousandsPointPattern.MatchString(text)
	}
	return v, actual == wantType && wantType != "string"
}
