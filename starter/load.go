package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/rehearsal"
)

// material is what a source's files say, put together.
type material struct {
	source source
	idea   map[string]any // with the rows as messages of its context
	read   *ideafile.Idea
	script string // the replies file's text; empty: no script
	// delegates are the Idea files of delegates, by their path from the folder of the first one.
	delegates map[string]any
	// withSolution says that the Calls of the Idea's solution are taken up.
	withSolution bool
}

// load reads a source and reports everything that is wrong with any of its files. The material is whole where nothing
// but warnings is reported.
func load(s source, known bindings) (*material, diag.Problems, error) {
	return loadAs(s, known, func(*material) {})
}

// loadAs is load for what is made of the files before they are checked against each other.
func loadAs(s source, known bindings, change func(*material)) (*material, diag.Problems, error) {
	m := &material{source: s}
	var ps diag.Problems
	if err := m.readIdea(&ps); err != nil {
		return nil, nil, err
	}
	if err := m.readReplies(&ps); err != nil {
		return nil, nil, err
	}
	if m.read == nil {
		return m, ps, nil
	}
	ok, err := m.addRows(&ps)
	if err != nil {
		return nil, nil, err
	}
	// Without all its rows an Idea may lack what its Calls read.
	if ok && len(ps.Errors()) == 0 {
		change(m)
	}
	if ok {
		ps = append(ps, known.check(m.read)...)
	}
	known.elsewhere = known.elsewhere || m.read.Simulated != nil
	if err := m.readDelegates(known, &ps); err != nil {
		return nil, nil, err
	}
	return m, ps, nil
}

// readIdea leaves m.read nil where the file is no Idea at all.
func (m *material) readIdea(ps *diag.Problems) error {
	data, err := readFile(m.source.file)
	if err != nil {
		return err
	}
	v, problem := decodeFile(m.source.file, data)
	if problem != nil {
		*ps = append(*ps, *problem)
		return nil
	}
	read, problems := ideafile.ReadIdea(v)
	*ps = append(*ps, problems...)
	if object, ok := v.(map[string]any); ok {
		m.idea, m.read = object, read
	}
	return nil
}

// decodeFile reads the value of a JSON or YAML file, by its name.
func decodeFile(path string, data []byte) (any, *diag.Problem) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		return decodeYAML(data)
	}
	v, err := jsonval.Decode(data)
	if err != nil {
		return nil, &diag.Problem{Path: "$", Message: decodeCause(err)}
	}
	return v, nil
}

// decodeCause is an error of model.Decode without its prefix.
func decodeCause(err error) string { return strings.TrimPrefix(err.Error(), "model: decode JSON: ") }

func (m *material) readReplies(ps *diag.Problems) error {
	if m.source.replies == "" {
		return nil
	}
	data, err := readFile(m.source.replies)
	if err != nil {
		return err
	}
	name := filepath.Base(m.source.replies)
	replies, err := rehearsal.Parse(data)
	switch {
	case err != nil:
		for _, line := range strings.Split(err.Error(), "\n") {
			*ps = append(*ps, diag.Problem{Path: name, Message: strings.TrimPrefix(line, "rehearsal: parse ")})
		}
	case len(replies) == 0:
		*ps = append(*ps, diag.Problem{Path: name, Message: "it holds no reply"})
	}
	m.script = string(data)
	return nil
}

// addRows puts the rows of the instances file behind the messages of the Idea; ok is false where one of them is wrong.
func (m *material) addRows(ps *diag.Problems) (ok bool, err error) {
	if m.source.instances == "" {
		return true, nil
	}
	data, err := readFile(m.source.instances)
	if err != nil {
		return false, err
	}
	messages, problems := readRows(m.source.instances, data, m.read)
	if len(problems) > 0 {
		*ps = append(*ps, problems...)
		return false, nil
	}
	context, _ := m.idea["context"].([]any)
	merged := make(map[string]any, len(m.idea)+1)
	for k, v := range m.idea {
		merged[k] = v
	}
	merged["context"] = append(context[:len(context):len(context)], messages...)
	// What is wrong with the file is known by now, and nothing is with the rows.
	m.idea = merged
	m.read, _ = ideafile.ReadIdea(merged)
	return true, nil
}

// digest names what a process is started from: SHA-256, in hex, over the Idea's canonical bytes and the script.
func (m *material) digest() string {
	h := sha256.New()
	h.Write(jsonval.Encode(m.idea))
	h.Write([]byte("\n" + m.script))
	if len(m.delegates) > 0 {
		h.Write([]byte("\n"))
		h.Write(jsonval.Encode(m.delegates))
	}
	if m.withSolution {
		h.Write([]byte("\nwith its solution"))
	}
	return hex.EncodeToString(h.Sum(nil))
}

var byteOrderMark = []byte("\ufeff") // some editors put it first

func readFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, misuse("read %s: %w", path, cause(err))
	}
	return bytes.TrimPrefix(data, byteOrderMark), nil
}
