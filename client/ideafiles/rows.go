package ideafiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// row is one line of an instances file.
type row struct {
	file           string // for messages about the row; empty: no file
	lineNumber     int
	fields         jsonval.Object
	hasInvalidCell bool // an invalid cell, already reported, has no value
}

func (r row) place() string { return rowPlace(r.file, r.lineNumber) }

func rowPlace(file string, lineNumber int) string {
	if file == "" {
		return fmt.Sprintf("row %d", lineNumber)
	}
	return fmt.Sprintf("%s:%d", file, lineNumber)
}

// ReadRowsAsMessages reads the bytes of an instances file and returns its rows as messages. The file is CSV if its name
// ends like a table's, else JSON Lines or a list of objects. A plain row is an instance's input; a row with a type is
// such a message. Rows without "_instance" are named ①, ②, … in order, except for names that are used already. The
// input schema of the Idea types CSV columns.
func ReadRowsAsMessages(path string, data []byte, idea *ideafile.Idea, limit jsonval.NodeLimit) ([]any, diag.Problems) {
	messages, _, ps := readRowsAsMessages(path, data, idea, limit)
	return messages, ps
}

// readRowsAsMessages is ReadRowsAsMessages, and also returns the line of each message in the file.
func readRowsAsMessages(path string, data []byte, idea *ideafile.Idea,
	limit jsonval.NodeLimit) (messages []any, lineNumbers []int32, ps diag.Problems) {
	var rows []row
	fileName := filepath.Base(path)
	data, problem := UTF8Text(fileName, data)
	if problem != nil {
		return nil, nil, diag.Problems{*problem}
	}
	isTable := slices.Contains(tableExtensions, strings.ToLower(filepath.Ext(path)))
	switch {
	case isTable && nonTablePattern.Match(data):
		ps.Add(fileName,
			"it begins as JSON or as a page, and not as a table; the name of rows in JSON ends with .jsonl")
	case isTable:
		rows, ps = readCSV(fileName, data, idea, limit)
	case !mayBeJSONRows(data):
		ps.Add(fileName, "it begins with neither an object nor a list; the name of a table ends with .csv or .tsv")
	case limit.Check(data) != nil:
		ps.Add(fileName, "%s", limit.Check(data))
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")):
		rows, ps = readJSONList(fileName, data)
	default:
		rows, ps = readJSONLines(fileName, data)
	}
	if len(rows)+len(ps.Errors()) == 0 {
		ps.Add(fileName, "it has no rows")
	}
	ps.Append(encodingWarnings(fileName, data)...)
	if len(rows) == 1 {
		ps.Append(rows[0].wrapperWarnings(idea)...)
	}
	messages, rowProblems := rowsToMessages(rows, idea)
	lineNumbers = make([]int32, len(rows)) // lines and no texts: there are many
	for n, r := range rows {
		lineNumbers[n] = int32(r.lineNumber) //nolint:gosec // no file that is read has more lines
	}
	ps.Append(rowProblems...)
	return messages, lineNumbers, ps
}

// tableExtensions are the endings of tables' file names.
var tableExtensions = []string{".csv", ".tsv"}

// mayBeJSONRows reports whether a file may contain rows in JSON: it begins as an object or a list, or is empty.
func mayBeJSONRows(data []byte) bool {
	data = bytes.TrimSpace(data)
	return len(data) == 0 || data[0] == '{' || data[0] == '['
}

// wrapperWarnings warns if the only row contains only a list of objects: APIs wrap rows so, as {"data": […]}.
func (r row) wrapperWarnings(idea *ideafile.Idea) (ps diag.Problems) {
	schema := ideafile.InstanceViewOf(idea.Context, "").SchemaByKind[ideafile.TypeInput]
	if len(r.fields) > 1 {
		return nil
	}
	for key, v := range r.fields {
		list, _ := v.([]any)
		if len(list) > 0 && jsonval.TypeOf(list[0]) == "object" && jsonschema.Properties(schema)[key] == nil {
			ps.Warn(r.place(), "the only row is an object around a list of %d: if they are the rows, write the "+
				"list alone", len(list))
		}
	}
	return ps
}

// MessagesFromRows turns rows that come from no file into messages, as ReadRowsAsMessages does. A row is an object with
// numbers as json.Number, float64 or int. Rows without "_instance" get names that the Idea does not use.
func MessagesFromRows(rows []map[string]any, idea *ideafile.Idea) ([]any, diag.Problems) {
	list := make([]row, len(rows))
	for n, fields := range rows {
		if _, hasInstanceToken := fields["_instance"]; hasInstanceToken || fields["type"] != nil {
			fields = maps.Clone(fields) // message changes only these: copies of all would need a third of the memory
		}
		list[n] = row{lineNumber: n + 1, fields: fields}
	}
	return rowsToMessages(list, idea)
}

func rowsToMessages(rows []row, idea *ideafile.Idea) (messages []any, ps diag.Problems) {
	namer := newInstanceTokenNamer(idea)
	for _, r := range rows {
		token, ok := r.fields["_instance"].(string)
		if !ok {
			continue
		}
		if lookalike := namer.reserve(token); lookalike != "" {
			ps.Add(r.place()+" $._instance", "%s", ideafile.ConfusableTokensError(token, lookalike))
		} else if lookalike := namer.visibleForms.AddToken(token); lookalike != "" {
			ps.Warn(r.place()+" $._instance", "%s", ideafile.LookalikeTokensError(token, lookalike))
		}
	}
	lineByPayload, checkInput := existingPayloads(idea), newInputCheck(idea)
	messages = make([]any, 0, len(rows))
	for _, r := range rows {
		if len(r.fields) > maxRowFields {
			ps.Add(r.place(), "the row has %d fields; a spreadsheet has at most %d columns",
				len(r.fields), maxRowFields)
			continue
		}
		m, hasInstanceToken := r.toMessage(namer)
		messages = append(messages, m)
		rowProblems := r.problems(m, hasInstanceToken, lineByPayload)
		if len(rowProblems) == 0 && !r.hasInvalidCell {
			rowProblems = r.inputProblems(m, checkInput)
		}
		ps.Append(rowProblems...)
	}
	return messages, ps
}

// maxRowFields bounds the fields of a row.
const maxRowFields = 16_384

// newInputCheck returns a check whether a row's input, together with what all instances share, fits the Idea's schema
// for inputs.
func newInputCheck(idea *ideafile.Idea) func(input any) error {
	sharedView := ideafile.InstanceViewOf(idea.Context, "")
	source := sharedView.SchemaByKind[ideafile.TypeInput]
	if source == nil {
		return func(any) error { return nil }
	}
	schema, err := jsonschema.CompileSchema(source)
	if err != nil { // reported as a mistake of the Idea
		return func(any) error { return nil }
	}
	sharedInput := jsonval.AsObject(sharedView.PayloadByKind[ideafile.TypeInput])
	return func(input any) error {
		if sharedInput != nil {
			input = jsonval.OverlayObject(sharedInput, input)
		}
		if jsonval.ContainsBlobHandle(input) {
			return nil
		}
		return schema.Validate(schema.WithoutNulls(input))
	}
}

// inputProblems lists how the input of a row violates its schema.
func (r row) inputProblems(message jsonval.Object, checkInput func(any) error) (ps diag.Problems) {
	if input := message[ideafile.TypeInput]; message["type"] == ideafile.TypeInput && input != nil {
		if err := checkInput(input); err != nil {
			ps.Add(r.place()+" $", "the row does not fit the schema of the input: %s", err)
		}
	}
	return ps
}

// payloadKey identifies the data of one kind in one instance.
type payloadKey struct{ instance, kind string }

// existingPayloads returns the data that instances already have; each is mapped to its row, or to 0 if it is in the
// Idea.
func existingPayloads(idea *ideafile.Idea) map[payloadKey]int {
	lineByPayload := map[payloadKey]int{}
	for _, m := range idea.Context {
		if m.InstanceToken != "" && m.PayloadKind != "" && len(jsonval.AsObject(m.Payload)) > 0 {
			lineByPayload[payloadKey{m.InstanceToken, m.PayloadKind}] = 0
		}
	}
	return lineByPayload
}

// readJSONLines reads JSON Lines, one object per row.
func readJSONLines(file string, data []byte) (rows []row, ps diag.Problems) {
	n := -1
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		r, problem := readRow(file, n+1, line)
		if problem != nil && len(rows)+len(ps) == 0 && isOneObject(data) {
			problem.Message =
				"an object over several lines: write each row on one line, or all rows as a list, [{…}, {…}]"
			return nil, diag.Problems{*problem}
		}
		if problem != nil {
			if before, isComma := bytes.CutSuffix(line, []byte(",")); isComma && json.Valid(before) {
				problem.Message = "a comma stands behind the row: remove it, or write all rows as a list, [{…}, {…}]"
			}
			ps.Append(*problem)
			continue
		}
		rows = append(rows, r)
	}
	return rows, ps
}

// isOneObject reports whether a whole file is one JSON object.
func isOneObject(data []byte) bool {
	_, err := jsonval.DecodeObject(data)
	return err == nil
}

// readRow reads the text of one object.
func readRow(file string, lineNumber int, text []byte) (row, *diag.Problem) {
	v, err := jsonval.Decode(text)
	if err != nil {
		return row{}, &diag.Problem{JSONPath: rowPlace(file, lineNumber), Message: DecodeCause(err)}
	}
	fields, ok := v.(jsonval.Object)
	if !ok {
		return row{}, &diag.Problem{JSONPath: rowPlace(file, lineNumber),
			Message: "a row is an object, not " + jsonval.TypeOf(v)}
	}
	return row{file: file, lineNumber: lineNumber, fields: fields}, nil
}

// readJSONList reads a JSON list of objects. The place of a row is the line in which it begins.
func readJSONList(file string, data []byte) (rows []row, ps diag.Problems) {
	d := json.NewDecoder(bytes.NewReader(data))
	lineNumber, countedOffset := 1, 0
	lineAt := func(offset int) int {
		lineNumber += bytes.Count(data[countedOffset:offset], []byte("\n"))
		countedOffset = offset
		return lineNumber
	}
	_, err := d.Token()
	for err == nil && d.More() {
		var text json.RawMessage
		if err = d.Decode(&text); err == nil {
			r, problem := readRow(file, lineAt(int(d.InputOffset())-len(text)), text)
			if problem != nil {
				ps.Append(*problem)
			} else {
				rows = append(rows, r)
			}
		}
	}
	if err == nil {
		_, err = d.Token()
	}
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return rows, ps
		}
		err = errors.New("text after the list of rows: write one list, or one row a line")
	}
	ps.Add(rowPlace(file, lineAt(max(countedOffset, int(d.InputOffset())))), "%s", rowListErrorText(err))
	return rows, ps
}

// rowListErrorText describes why a list of rows cannot be read.
func rowListErrorText(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the list of rows has no end: its ] is missing"
	}
	if strings.HasPrefix(err.Error(), "invalid character ']'") {
		return "a comma stands behind the last row: remove it"
	}
	return err.Error()
}

// toMessage turns a row into its message, and reuses the row's fields: copies of a long table need too much memory. The
// fields of a plain row go under the key "input", where none can be mistaken for a key of the message. hasInstanceToken
// is false if the row has no name, and gets a new one.
func (r row) toMessage(namer *instanceTokenNamer) (m jsonval.Object, hasInstanceToken bool) {
	m = r.fields
	if m["type"] == nil {
		m = jsonval.Object{"type": ideafile.TypeInput, ideafile.TypeInput: r.fields, "_instance": r.fields["_instance"]}
		delete(r.fields, "_instance")
	}
	if hasInstanceToken = m["_instance"] != nil; !hasInstanceToken {
		m["_instance"] = namer.nextToken()
	}
	return m, hasInstanceToken
}

// problems reports the mistakes in a row's message, and notes which data the row gives: two rows must not give the
// same.
func (r row) problems(message any, hasInstanceToken bool, lineByPayload map[payloadKey]int) diag.Problems {
	var ps diag.Problems
	m, ok := ideafile.ReadMessage(message, "$", &ps)
	if ok && hasInstanceToken {
		key := payloadKey{m.InstanceToken, m.PayloadKind}
		if lineNumber, exists := lineByPayload[key]; exists && m.PayloadKind != "" && m.InstanceToken != "" {
			earlierPlace := "the Idea"
			if lineNumber > 0 {
				earlierPlace = rowPlace(r.file, lineNumber)
			}
			ps.Add("$._instance", "%s already gives instance %s its %s: one instance cannot have two rows",
				earlierPlace, m.InstanceToken, m.PayloadKind)
		} else {
			lineByPayload[key] = r.lineNumber
		}
	}
	for n := range ps {
		if ps[n].JSONPath == "$.type" {
			ps[n].Message += `; a row with a "type" is read as a message: if your data has such a field, ` +
				`write {"type":"input","input":{…}}`
		}
		ps[n].JSONPath = r.place() + " " + ps[n].JSONPath
	}
	if r.fields["type"] == nil {
		r.checkInstanceKeySpelling(&ps)
	}
	return ps
}

// checkInstanceKeySpelling reports a plain row's key that is a misspelling of "_instance": it would count as data, and
// the instance would get another name.
func (r row) checkInstanceKeySpelling(ps *diag.Problems) {
	for _, k := range jsonval.SortedKeys(r.fields) {
		if strings.HasPrefix(k, "_") && k != "_instance" && diag.NearestName(k, []string{"_instance"}) != "" {
			ps.Add(r.place()+" "+jsonval.JSONPathWithKey("$", k),
				"did you mean _instance? A row names its instance by it")
		}
	}
}
