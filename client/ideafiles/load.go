package ideafiles

import (
	"bytes"
	"cmp"
	_ "embed"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"processidea/internal/yamlvalue"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Definition is the merged content of a process's files: what the process starts from.
type Definition struct {
	Source Source
	// Idea is the Idea file as a JSON value, with the rows as messages of its context. ParsedIdea is the same, parsed.
	Idea       map[string]any
	ParsedIdea *ideafile.Idea
	// RepliesText is the text of the replies file; empty: an LLM answers.
	RepliesText string
	// DelegateFiles are the Idea files of delegates as JSON values, by their path from the folder of the first one.
	DelegateFiles map[string]any

	// rowLineNumbers has the line of each row in its file. The rows are the messages of the context from firstRowIndex
	// on.
	rowLineNumbers []int32
	firstRowIndex  int
}

// Load reads the files of a process and reports all mistakes in them. The Definition is complete if only warnings are
// reported. The error is for a file that cannot be read, and wraps ErrInvalid.
func Load(s Source, tools WorkerTools) (*Definition, diag.Problems, error) {
	return LoadAndChange(s, tools, func(*Definition) {})
}

// LoadAndChange is Load for an Idea that is changed before its parts are checked against each other. It calls change
// once everything has been read without mistakes.
func LoadAndChange(s Source, tools WorkerTools,
	changeBeforeChecks func(*Definition)) (*Definition, diag.Problems, error) {
	d, problems, err := LoadIdea(s)
	if err != nil {
		return nil, nil, err
	}
	if err := d.ReadReplies(tools, &problems); err != nil {
		return nil, nil, err
	}
	if d.ParsedIdea == nil {
		return d, problems, nil
	}
	hasAllRows, err := d.addRows(&problems)
	if err != nil {
		return nil, nil, err
	}
	// Without all its rows an Idea may lack values that its Calls read.
	if hasAllRows && len(problems.Errors()) == 0 {
		changeBeforeChecks(d)
	}
	if hasAllRows {
		problems.Append(d.withRowPlaces(tools.Problems(d.ParsedIdea))...)
	}
	tools.HasOtherWorkers = tools.HasOtherWorkers || d.ParsedIdea.Simulation != nil
	problems.Append(ideafile.CheckNewUndoesKeys(d.Idea, nil)...)
	if err := d.ReadDelegates(tools, &problems); err != nil {
		return nil, nil, err
	}
	return d, problems, nil
}

// LoadIdea reads the Idea file alone, and checks its form. Read is nil if the file is no Idea at all.
func LoadIdea(s Source) (*Definition, diag.Problems, error) {
	d := &Definition{Source: s}
	data, err := ReadFileAsUTF8(s.IdeaPath)
	if err != nil {
		return nil, nil, err
	}
	v, problem := decodeIdea(s.IdeaPath, data)
	if problem != nil {
		return d, diag.Problems{*problem}, nil
	}
	var problems diag.Problems
	object, ok := v.(jsonval.Object)
	if ok {
		if object, err = WithInstructions(object, s.IdeaPath, &problems); err != nil {
			return nil, nil, err
		}
		v = object
	}
	parsedIdea, ideaProblems := ideafile.ReadIdea(v)
	problems.Append(ideaProblems...)
	if ok {
		d.Idea, d.ParsedIdea = object, parsedIdea
	}
	return d, problems, nil
}

// LoadWithoutInstances reads an Idea with its delegates, and checks their form. It ignores data files beside the Idea,
// since the caller supplies the data at the start. It cannot check yet what the Idea's Plans read of that data.
func LoadWithoutInstances(s Source, tools WorkerTools) (*Definition, error) {
	if s.InstancesPath = ""; !s.AreRepliesFromCaller {
		s.RepliesPath = ""
	}
	d, problems, err := LoadIdea(s)
	if err == nil {
		err = d.ReadReplies(tools, &problems)
	}
	if err == nil && d.ParsedIdea != nil {
		problems.Append(ideafile.CheckNewUndoesKeys(d.Idea, nil)...)
		err = d.ReadDelegates(tools, &problems)
	}
	return d, cmp.Or(err, ErrorFromProblems(s.GivenPath, problems))
}

// decodeIdea is decodeFile for an Idea file, or a file with a part of an Idea.
func decodeIdea(path string, data []byte) (any, *diag.Problem) {
	v, keyOrder, problem := decodeFile(path, data)
	ideafile.RecordParamOrder(v, keyOrder)
	return v, problem
}

// decodeFile reads the value of a JSON or YAML file; the file's name says which.
func decodeFile(path string, data []byte) (v any, keyOrder jsonval.KeyOrder, problem *diag.Problem) {
	if data, problem = UTF8Text(filepath.Base(path), data); problem != nil {
		return nil, nil, problem
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		return yamlvalue.Decode(data)
	}
	err := jsonval.UntrustedNodeLimit.Check(data)
	if err == nil {
		v, keyOrder, err = jsonval.DecodeWithKeyOrder(data, jsonval.DefaultLimits)
	}
	if err != nil {
		return nil, nil, &diag.Problem{JSONPath: "$", Message: DecodeCause(err)}
	}
	return v, keyOrder, nil
}

// DecodeCause returns an error of jsonval.Decode without its prefix.
func DecodeCause(err error) string { return strings.TrimPrefix(err.Error(), "model: decode JSON: ") }

// ReadReplies reads the replies file, if the source names one, and adds its mistakes to the problems.
func (d *Definition) ReadReplies(tools WorkerTools, problems *diag.Problems) error {
	if d.Source.RepliesPath == "" {
		return nil
	}
	data, err := ReadFileAsUTF8(d.Source.RepliesPath)
	if err != nil {
		return err
	}
	fileName := filepath.Base(d.Source.RepliesPath)
	replyCount := 1
	if err = jsonval.UntrustedNodeLimit.Check(data); err == nil && tools.CheckReplies != nil {
		replyCount, err = tools.CheckReplies(data)
	}
	switch {
	case err != nil:
		for line := range strings.SplitSeq(err.Error(), "\n") {
			problems.Add(fileName, "%s", strings.TrimPrefix(line, "rehearsal: parse "))
		}
	case replyCount == 0:
		problems.Add(fileName, "it has no replies")
	}
	d.RepliesText = string(data)
	return nil
}

// addRows appends the rows of the instances file to the messages of the Idea; hasAllRows is false if a row has a
// mistake.
func (d *Definition) addRows(problems *diag.Problems) (hasAllRows bool, err error) {
	if d.Source.InstancesPath == "" {
		if d.Source.InstanceNameColumn != "" {
			problems.Add("key",
				"a column names the instances, but there are no rows: give a file of them (--instances)")
		}
		return d.Source.InstanceNameColumn == "", nil
	}
	data, err := ReadFileAsUTF8(d.Source.InstancesPath)
	if err != nil {
		return false, err
	}
	messages, lineNumbers, rowProblems := readRowsAsMessages(d.Source.InstancesPath, data, d.ParsedIdea,
		d.Source.tableLimit())
	problems.Append(rowProblems...)
	if len(rowProblems.Errors()) > 0 {
		return false, nil
	}
	if d.Source.InstanceNameColumn != "" {
		namedIdea, rowProblems := NameInstancesBy(d.Idea, d.Source.InstanceNameColumn, messages)
		if rowProblems != nil {
			problems.Append(*rowProblems)
			return false, nil
		}
		d.Idea = namedIdea
	}
	context := jsonval.AsList(d.Idea["context"])
	d.rowLineNumbers, d.firstRowIndex = lineNumbers, len(context)
	// The Idea's mistakes are reported already, and the rows have none.
	if d.Idea, err = WithInstructions(WithMessages(d.Idea, messages), d.Source.IdeaPath, problems); err != nil {
		return false, err
	}
	d.ParsedIdea, _ = ideafile.ReadIdea(d.Idea)
	return true, nil
}

// withRowPlaces replaces a row's place in the context, which nobody wrote, by its file and line.
func (d *Definition) withRowPlaces(problems diag.Problems) diag.Problems {
	for n, p := range problems {
		indexText, rest, ok := strings.Cut(strings.TrimPrefix(p.JSONPath, "$.context["), "]")
		contextIndex, err := strconv.Atoi(indexText)
		rowIndex := contextIndex - d.firstRowIndex
		if !ok || err != nil || indexText+"]"+rest == p.JSONPath || rowIndex < 0 || rowIndex >= len(d.rowLineNumbers) {
			continue
		}
		// A plain row has no key "input".
		m := jsonval.AsObject(d.Idea["context"].([]any)[contextIndex])
		if _, hasPlainInput := m[ideafile.TypeInput].(jsonval.Object); hasPlainInput &&
			m["type"] == ideafile.TypeInput {
			rest = strings.TrimPrefix(rest, "."+ideafile.TypeInput)
		}
		problems[n].JSONPath = rowPlace(filepath.Base(d.Source.InstancesPath), int(d.rowLineNumbers[rowIndex])) + " $" +
			rest
	}
	return problems
}

// WithMessages returns a copy of an Idea with messages appended to its context.
func WithMessages(idea map[string]any, messages []any) map[string]any {
	context := jsonval.AsList(idea["context"])
	extendedIdea := maps.Clone(idea)
	extendedIdea["context"] = append(context[:len(context):len(context)], messages...)
	return extendedIdea
}

// ReadJSONOrYAMLFile reads a JSON or YAML file; the file's name says which. Numbers are json.Number. The error wraps
// ErrInvalid.
func ReadJSONOrYAMLFile(file string) (any, error) {
	return readFileWith(file, func(path string, data []byte) (any, *diag.Problem) {
		v, _, problem := decodeFile(path, data)
		return v, problem
	})
}

func readFileWith(file string, decode func(path string, data []byte) (any, *diag.Problem)) (any, error) {
	data, err := ReadFileAsUTF8(file)
	if err != nil {
		return nil, err
	}
	v, problem := decode(file, data)
	if problem != nil {
		return nil, &InvalidError{file, diag.Problems{*problem}}
	}
	return v, nil
}

var byteOrderMark = []byte("\ufeff") // some editors put it first

// ReadFileAsUTF8 reads a file without the byte order mark that some editors put first; UTF-16 becomes UTF-8. The error
// wraps ErrInvalid.
func ReadFileAsUTF8(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, invalidErrorf("read %s: %w", path, WithoutPath(err))
	}
	return toUTF8IfText(data), nil
}

// toUTF8IfText returns the text of a file, or the file as it is if it is no text: its reader reports that.
func toUTF8IfText(data []byte) []byte {
	if text, problem := UTF8Text("", data); problem == nil {
		return text
	}
	return bytes.TrimPrefix(data, byteOrderMark)
}

// Schema is the JSON Schema of an Idea file, with which editors complete and check the file. It finds mistakes in form
// only: `starter check` finds the others.
//
//go:embed idea.schema.json
var Schema []byte
