package scaffold

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"processidea/client/ideafiles"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// tableFileName is the name of the table in the folder, where "run" finds it.
const tableFileName = "instances.csv"

const sampleCSV = "number;name;amount\n1001;Ada GmbH;240.00\n1002;Bello & Söhne;1180.50\n1003;Çelik Ltd.;89.90\n"

// instanceTable holds the instances as they were given, and their columns.
type instanceTable struct {
	csvData []byte
	columns []ideafiles.Column
}

// readTable reads the instances in the same way as "run".
func (o Options) readTable() (t instanceTable, err error) {
	fileName := tableFileName
	t.csvData = []byte(sampleCSV)
	if o.InstanceTableFile != "" {
		fileName = filepath.Base(o.InstanceTableFile)
		if !strings.EqualFold(filepath.Ext(fileName), ".csv") {
			return t, fmt.Errorf("read table %s: want a file whose name ends with .csv", o.InstanceTableFile)
		}
		if t.csvData, err = ideafiles.ReadFileAsUTF8(o.InstanceTableFile); err != nil {
			return t, err
		}
	}
	columns, problems := ideafiles.CSVInputColumns(fileName, t.csvData)
	if len(problems) > 0 {
		return t, fmt.Errorf("read table %s:\n%w", o.InstanceTableFile, problems)
	}
	for _, c := range columns {
		if !strings.HasPrefix(c.Name, "_") { // no parameter of a Tool may begin with _
			t.columns = append(t.columns, c)
		}
	}
	if len(t.columns) == 0 {
		return t, fmt.Errorf("read table %s: it has no column whose name begins without an underscore",
			o.InstanceTableFile)
	}
	return t, nil
}

// The methods below return JSON for the templates. The first column identifies the row.

// KeyProperty returns the first column as a member of a schema's properties.
func (t instanceTable) KeyProperty() string { return joinMembers(t.columns[:1], columnSchema) }

// KeyName is the name of the first column.
func (t instanceTable) KeyName() string { return quoteJSON(t.columns[0].Name) }

// Properties returns the properties of all columns.
func (t instanceTable) Properties() string { return joinMembers(t.columns, columnSchema) }

// Required returns the names of the columns that are filled in every row.
func (t instanceTable) Required() string {
	var names []string
	for _, c := range t.columns {
		if c.HasNoEmptyCell {
			names = append(names, quoteJSON(c.Name))
		}
	}
	return strings.Join(names, ", ")
}

// KeyParam returns the param that passes the first column to a Call.
func (t instanceTable) KeyParam() string { return joinMembers(t.columns[:1], columnReference) }

// Params returns the params that pass every column to a Call.
func (t instanceTable) Params() string { return joinMembers(t.columns, columnReference) }

func joinMembers(columns []ideafiles.Column, memberValueOf func(ideafiles.Column) string) string {
	list := make([]string, len(columns))
	for n, c := range columns {
		list[n] = quoteJSON(c.Name) + ": " + memberValueOf(c)
	}
	return strings.Join(list, ", ")
}

func columnSchema(c ideafiles.Column) string {
	if c.HasNoEmptyCell || c.Type == "string" { // an empty cell is an empty text
		return fmt.Sprintf(`{"type": %q}`, c.Type)
	}
	return fmt.Sprintf(`{"type": [%q, "null"]}`, c.Type)
}

func columnReference(c ideafiles.Column) string {
	return quoteJSON(refexpr.Reference{Kind: ideafile.TypeInput, Path: jsonval.Path{c.Name}}.String())
}

func quoteJSON(text string) string {
	data, _ := json.Marshal(text) // every string can be encoded
	return string(data)
}
