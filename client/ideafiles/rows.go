package ideafiles

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// row is one line of an instances file.
type row struct {
	place  string // file and line, for messages about it
	fields map[string]any
}

// ReadRows reads the bytes of an instances file, CSV or JSON Lines by the name of its path, and gives its rows as
// messages: a plain row is an instance's input, a row with a type is that message. Rows without "_instance" are named
// ①, ②, … in order, leaving out the names that the Idea has taken. The input schema of the Idea types CSV columns.
func ReadRows(path string, data []byte, idea *ideafile.Idea) ([]any, diag.Problems) {
	var rows []row
	var ps diag.Problems
	if name := filepath.Base(path); strings.EqualFold(filepath.Ext(path), ".csv") {
		rows, ps = readCSV(name, data, idea)
	} else {
		rows, ps = readLines(name, data)
	}
	if len(rows)+len(ps) == 0 {
		ps = append(ps, diag.Problem{Path: filepath.Base(path), Message: "it holds no row"})
	}
	messages, wrong := messagesOf(rows, idea)
	return messages, append(ps, wrong...)
}

// Messages makes rows the messages that they stand for, as ReadRows does, where they come from no file. A row is an
// object with numbers as json.Number, float64 or int. Rows without "_instance" are named after those that the Idea has.
func Messages(rows []map[string]any, idea *ideafile.Idea) ([]any, diag.Problems) {
	list := make([]row, len(rows))
	for n, fields := range rows {
		list[n] = row{fmt.Sprintf("row %d", n+1), fields}
	}
	return messagesOf(list, idea)
}

func messagesOf(rows []row, idea *ideafile.Idea) (messages []any, ps diag.Problems) {
	names := newNamer(idea)
	for _, r := range rows {
		if token, ok := r.fields["_instance"].(string); ok {
			names.taken[token] = true
		}
	}
	for _, r := range rows {
		m := r.message(names)
		messages = append(messages, m)
		ps = append(ps, r.problems(m)...)
	}
	return messages, ps
}

// readLines reads JSON Lines, one object a row.
func readLines(file string, data []byte) (rows []row, ps diag.Problems) {
	for n, line := range bytes.Split(data, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		place := fmt.Sprintf("%s:%d", file, n+1)
		v, err := jsonval.Decode(line)
		fields, ok := v.(map[string]any)
		switch {
		case err != nil:
			ps = append(ps, diag.Problem{Path: place, Message: decodeCause(err)})
		case !ok:
			ps = append(ps, diag.Problem{Path: place, Message: "a row is an object, not " + jsonval.TypeOf(v)})
		default:
			rows = append(rows, row{place, fields})
		}
	}
	return rows, ps
}

// message makes a row the message that it stands for. The fields of a plain row go under the key "input", where none of
// them can be taken for a key of the message.
func (r row) message(names *namer) map[string]any {
	m := map[string]any{}
	input := map[string]any{}
	for k, v := range r.fields {
		m[k] = v
		if k != "_instance" {
			input[k] = v
		}
	}
	if m["type"] == nil {
		m = map[string]any{"type": ideafile.TypeInput, ideafile.TypeInput: input, "_instance": m["_instance"]}
	}
	if m["_instance"] == nil {
		m["_instance"] = names.next()
	}
	return m
}

// problems reports what is wrong with a row's message.
func (r row) problems(message any) diag.Problems {
	var ps diag.Problems
	if _, ok := ideafile.ReadMessage(message, "$", &ps); ok {
		return nil
	}
	for n := range ps {
		if ps[n].Path == "$.type" {
			ps[n].Message += `; a row with a "type" is a message: a row of data that has such a field says {"type":"input","input":{…}}`
		}
		ps[n].Path = r.place + " " + ps[n].Path
	}
	return ps
}
