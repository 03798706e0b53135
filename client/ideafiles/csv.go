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
	Name   string
	Type   string // the common type of its values, as in JSON Schema
	Filled bool   // no cell of it is empty
}

// Columns returns the input columns of a CSV, in their order, or everything that is wrong with it.
func Columns(path string, data []byte) (list []Column, ps diag.Problems) {
	if _, _, ps = readRows(path, data, &ideafile.Idea{}, jsonval.OwnTableParts); len(ps.Errors()) > 0 {
		return nil, ps.Errors()
	}
	text, _ := UTF8Text(path, data)
	untyped := untypedColumns{}
	rows, header, _ := readTable(path, text, &ideafile.Idea{}, untyped, jsonval.OwnTableParts)
	for _, name := range header {
		if name == "type" || name == "_instance" {
			continue
		}
		c := Column{Name: name, Type: cmp.Or(untyped[ideafile.TypeInput][name], "string"), Filled: true}
		for _, r := range rows {
			c.Filled = c.Filled && r.fields[name] != ""
		}
		list = append(list, c)
	}
	return list, nil
}

// readCSV reads rows under a header. A field is a text unless the schema of the row's message gives its column another
// type. A row without a type is an input.
func readCSV(file string, data []byte, idea *ideafile.Idea, limit jsonval.PartsLimit) ([]row, diag.Problems) {
	untyped := untypedColumns{}
	rows, _, ps := readTable(file, data, idea, untyped, limit)
	ps.Append(untyped.warnings(file)...)
	if typeLine.Match(data) {
		ps.Warn(file, "the line #TYPE above the header is left out: it is PowerShell's, and no column's name")
	}
	return rows, ps
}

// readTable reads the rows and the header, and adds the columns without a type in the Idea to untyped.
func readTable(
	file string, data []byte, idea *ideafile.Idea, untyped untypedColumns, limit jsonval.PartsLimit,
) (rows []row, header []string, ps diag.Problems) {
	separator, lines, skipped, err := separatorOf(withLineFeeds(data))
	if err != nil {
		return nil, nil, diag.Problems{{JSONPath: file + ":1", Message: err.Error()}}
	}
	if line, err := checkTable(lines, separator, limit); line > 0 {
		return nil, nil, diag.Problems{{JSONPath: placeOf(file, skipped+line), Message: err.Error()}}
	} else if err != nil {
		return nil, nil, diag.Problems{{JSONPath: file, Message: err.Error()}}
	}
	r := csv.NewReader(bytes.NewReader(lines))
	r.Comma, r.FieldsPerRecord = separator, -1
	header, err = r.Read()
	if err == nil {
		header, err = columnNames(header)
	}
	if errors.Is(err, io.EOF) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, diag.Problems{csvProblem(file, skipped, err)}
	}
	shared := ideafile.InstanceViewOf(idea.Context, "")
	if missing := missingColumns(header, shared); missing != "" {
		return nil, nil, diag.Problems{{JSONPath: fmt.Sprintf("%s:%d", file, skipped+1), Message: missing}}
	}
	schemas, empty, known, thousands := shared.SchemaByKind, 0, knownCells{}, thousandsColumns{}
	r.ReuseRecord = true // only the list of cells is reused, not their texts
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			ps.Append(tableWarnings(file, empty, separator, thousands)...)
			ps.Append(headerWarnings(placeOf(file, skipped+1), header, shared)...)
			return rows, header, ps
		}
		if err == nil && isEmptyRow(cells) {
			empty++
			continue
		}
		line := 0
		if err == nil {
			line, _ = r.FieldPos(0)
			cells, err = fittingCells(cells, header, line)
		}
		if err != nil {
			ps.Append(csvProblem(file, skipped, err))
			return rows, header, ps
		}
		row := row{file: file, line: skipped + line, fields: make(jsonval.Object, len(header))}
		wrong := row.fill(header, cells, schemas, untyped, known)
		row.isWrong = len(wrong) > 0
		thousands.observe(row.fields)
		ps.Append(wrong...)
		rows = append(rows, row)
	}
}

func tableWarnings(file string, empty int, separator rune, thousands thousandsColumns) (ps diag.Problems) {
	if empty > 0 {
		ps.Warn(file, "%d empty rows are left out", empty)
	}
	if separator != ',' { // only people who use another separator write a comma in decimals, and a point in thousands
		ps.Append(thousands.warnings(file)...)
	}
	return ps
}

// headerWarnings warns if whole lines of a table are in quotes, and if a column's name resembles an input that no
// column has, such as Amount for amount.
func headerWarnings(place string, header []string, shared ideafile.InstanceView) (ps diag.Problems) {
	if len(header) == 1 && strings.ContainsAny(header[0], ",;\t|") {
		ps.Warn(place, "the only column is named %q: if these are several, remove the quotes around "+
			"whole lines", header[0])
	}
	if slices.Contains(header, "type") { // shared by rows of several kinds
		return ps
	}
	properties := jsonschema.Properties(shared.SchemaByKind[ideafile.TypeInput])
	given := jsonval.AsObject(shared.PayloadByKind[ideafile.TypeInput])
	missing := jsonval.Filter(jsonval.SortedKeys(properties), func(name string) bool {
		_, known := given[name]
		return !known && !slices.Contains(header, name)
	})
	for _, name := range header {
		near := diag.NearestName(name, missing)
		if _, known := properties[name]; near != "" && !known && name != "_instance" {
			ps.Warn(place, "the schema of the input has no %q, and no column is named %q: if they are the same, give "+
				"the column that name", name, near)
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

// fittingCells returns the cells of a row, one for each column. Empty cells after them are dropped.
func fittingCells(cells, header []string, line int) ([]string, error) {
	for len(cells) > len(header) && strings.TrimSpace(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1]
	}
	switch {
	case len(cells) != len(header):
		return nil, &csv.ParseError{Line: line, Err: errors.New("the row has more or fewer cells than the header")}
	case repeatsHeader(cells, header):
		return nil, &csv.ParseError{Line: line,
			Err: errors.New("the row repeats the header, as where two tables were put into one: remove it")}
	}
	return cells, nil
}

// missingColumns reports the columns that the schema of the input requires and the header lacks. If rows of several
// kinds share the header, each row is checked separately instead.
func missingColumns(header []string, shared ideafile.InstanceView) string {
	if slices.Contains(header, "type") {
		return ""
	}
	given := jsonval.AsObject(shared.PayloadByKind[ideafile.TypeInput])
	required, _ := jsonval.AsStringList(jsonval.AsObject(shared.SchemaByKind[ideafile.TypeInput])["required"])
	var missing []string
	for _, name := range required {
		if _, known := given[name]; !known && !slices.Contains(header, name) {
			missing = append(missing, strconv.Quote(name))
		}
	}
	if len(missing) == 0 {
		return ""
	}
	names := jsonval.Map(header, strconv.Quote)
	return fmt.Sprintf("the schema of the input requires %s, but no column has that name; the columns are %s",
		strings.Join(missing, ", "), diag.FirstNamesAndCount(names))
}

// csvProblem makes a Problem from an error of encoding/csv, with its line if it has one. skipped counts the lines above
// the table.
func csvProblem(file string, skipped int, err error) diag.Problem {
	var at *csv.ParseError
	if errors.As(err, &at) {
		message := at.Err.Error()
		switch {
		case errors.Is(at.Err, csv.ErrBareQuote):
			message = "a quote stands in a cell that does not begin with one: put the whole cell in quotes, and " +
				"write each quote in it twice"
		case errors.Is(at.Err, csv.ErrQuote):
			message = "a cell that begins with a quote has none at its end: write each quote in it twice"
		}
		return diag.Problem{JSONPath: fmt.Sprintf("%s:%d", file, skipped+at.Line), Message: message}
	}
	return diag.Problem{JSONPath: file + ":1", Message: err.Error()}
}

// fill puts the cells of a line under their keys. Messages of different types share one header, so an empty cell of a
// row with a type is left out.
func (r row) fill(header, cells []string, schemas jsonval.Object, untyped untypedColumns,
	known knownCells) (ps diag.Problems) {
	kind := ideafile.TypeInput
	for n, key := range header {
		if key == "type" && cells[n] != "" {
			kind = cells[n]
		}
	}
	typed := kind != ideafile.TypeInput
	for n, key := range header {
		text := quotedNumberText.ReplaceAllString(cells[n], "$1")
		meta := key == "_instance" || key == "type"
		c := known.column(kind, key, schemas[kind])
		if c.isNull(text) {
			text = ""
		}
		if text == "" && (meta || typed) {
			continue
		}
		if meta {
			r.fields[key] = text
			continue
		}
		if len(c.types) == 0 {
			untyped.see(kind, key, text)
		}
		v, keep, err := c.cell(text)
		if err != nil {
			ps.Add(r.place()+" "+jsonval.JSONPathWithKeys("$", key), "%s", err)
		}
		if keep {
			r.fields[key] = v
		}
	}
	return ps
}

// untypedColumns holds, by the kind of data and the column, the type of all cells of a column that no schema types. ""
// means a text.
type untypedColumns map[string]map[string]string

// see notes one cell. An empty cell says nothing about the type.
func (u untypedColumns) see(kind, column, text string) {
	before, seen := u[kind][column]
	if text == "" || seen && before == "" {
		return
	}
	if u[kind] == nil {
		u[kind] = map[string]string{}
	}
	is := ""
	for _, t := range []string{"number", "boolean"} {
		if _, ok := cellOf(text, t); ok {
			is = t
		}
	}
	if seen && before != is {
		is = ""
	}
	u[kind][column] = is
}

// warnings proposes types for columns that contain only numbers or only booleans, but are read as texts.
func (u untypedColumns) warnings(file string) (ps diag.Problems) {
	for kind, columns := range jsonval.Sorted(u) {
		properties, names := jsonval.Object{}, []string{}
		for column, t := range jsonval.Sorted(columns) {
			if t != "" {
				properties[column] = jsonval.Object{"type": t}
				names = append(names, fmt.Sprintf("%q (%s)", column, t))
			}
		}
		if len(names) == 0 {
			continue
		}
		schema := jsonval.Encode(jsonval.Object{"type": kind, "schema": jsonval.Object{"properties": properties}})
		ps.Warn(file+":1", `these columns were read as texts, because the Idea gives them no type: %s. If a column is `+
			`what it looks like, add its type to the Idea's context: %s; if it is a text, write "string" there`,
			diag.FirstNamesAndCount(names), schema)
	}
	return ps
}

// typesOf lists the types that the schema allows in a column; none means a text.
func typesOf(schema any, column string) []string {
	at := jsonval.Path{column}
	types := jsonschema.TypesAt(schema, at)
	if types == nil {
		node := jsonschema.SubschemaAt(schema, at).Node
		for _, v := range slices.Concat(jsonval.AsList(jsonval.At(node, "enum")), []any{jsonval.At(node, "const")}) {
			if v != nil {
				types = jsonval.AppendNew(types, jsonschema.SchemaTypeOf(v))
			}
		}
	}
	return types
}

// cell reads a cell as the first of its column's types that fits; a text comes last. keep is false for an empty cell,
// which has no value, unless the column allows a text or null.
func cell(text string, types []string) (v any, keep bool, err error) {
	if text == "" && slices.Contains(types, "null") {
		return nil, true, nil
	}
	isText := len(types) == 0 || slices.Contains(types, "string")
	if text == "" {
		return text, isText, nil
	}
	if err := spreadsheetDamage(text, types); err != nil {
		return nil, false, err
	}
	for _, t := range types {
		if v, ok := cellOf(text, t); ok {
			return v, true, nil
		}
	}
	if !isText {
		err = fmt.Errorf("want %s, not %q", strings.Join(types, " or "), text)
		if slices.Contains(types, "boolean") {
			err = fmt.Errorf("%w: a boolean is written true or false", err)
		} else if groupedNumber.MatchString(text) {
			err = fmt.Errorf("%w: thousands are not separated, and a decimal is written with a point", err)
		} else if decimalComma.MatchString(text) {
			err = fmt.Errorf("%w: a decimal is written with a point", err)
		}
		return nil, false, err
	}
	return text, true, nil
}

// knownCells holds the columns, by the kind of data and the name.
type knownCells map[[2]string]*knownColumn

// knownColumn caches the values of a column's cells, so that a repeated value is kept in memory once.
type knownColumn struct {
	schema any      // the schema of a cell; nil: none
	types  []string // the types that a cell may have
	byText jsonval.Object
}

// maxKnownCells bounds the cached values of a column.
const maxKnownCells = 256

// noCell stands for an empty cell without a value.
type noCell struct{}

func (k knownCells) column(kind, name string, schema any) *knownColumn {
	of := [2]string{kind, name}
	if k[of] == nil {
		k[of] = &knownColumn{jsonschema.SubschemaAt(schema, jsonval.Path{name}).Node, typesOf(schema, name),
			jsonval.Object{}}
	}
	return k[of]
}

// isNull reports whether a cell is empty as databases export it: \N, or NULL in a column that has no texts.
func (c *knownColumn) isNull(text string) bool {
	return text == `\N` ||
		strings.EqualFold(text, "NULL") && len(c.types) > 0 && !slices.Contains(c.types, "string")
}

func (c *knownColumn) cell(text string) (v any, keep bool, err error) {
	if v, known := c.byText[text]; known {
		return v, v != noCell{}, nil
	}
	v, keep, err = cell(text, c.types)
	if text == "" && (!keep || v == "" && !takesEmptyText(c.schema)) {
		v, keep = noCell{}, false
	}
	if err == nil && len(c.byText) < maxKnownCells {
		c.byText[text] = v
	}
	return v, keep, err
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
	// decimalComma finds 12,50 and 1.234,50.
	decimalComma = regexp.MustCompile(`^\s*-?[\d.]+,\d+\s*$`)
	// quotedNumberText finds ="007", which makes a spreadsheet show digits as a text.
	quotedNumberText = regexp.MustCompile(`^="([^"]*)"$`)
	// groupedNumber finds 1,234.50 and 1 234,50.
	groupedNumber = regexp.MustCompile(`^\s*-?\d{1,3}([ .,'’\x{a0}\x{202f}]\d{3})+([.,]\d+)?\s*$`)
)

// cellOf reads a cell as a type other than a text. Spreadsheets write TRUE and FALSE, and spaces around amounts.
func cellOf(text, want string) (any, bool) {
	text = strings.TrimSpace(text)
	if want == "boolean" {
		text = strings.ToLower(text)
	}
	v, err := jsonval.Decode([]byte(text))
	if err != nil {
		return nil, false
	}
	is := jsonval.TypeOf(v)
	if want == "integer" && is == "number" {
		n, ok := new(big.Rat).SetString(text)
		return v, ok && n.IsInt() && !thousandsPoint.MatchString(text)
	}
	return v, is == want && want != "string"
}
