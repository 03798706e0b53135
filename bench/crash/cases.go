package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"processidea/internal/rehearsal"
	"processidea/model/jsonval"
)

// testCase is an Idea from which processes are started.
type testCase struct {
	name      string
	idea      jsonval.Object
	instances string // a file; empty: none
}

// readCases reads the examples, and adds the case whose effects can all be counted.
func readCases(b *testBed) ([]testCase, error) {
	files, _ := filepath.Glob("examples/*/idea.json")
	if len(files) == 0 {
		return nil, errors.New("find folder examples: there are none here; run it from the root of the checkout")
	}
	var cases []testCase
	for _, file := range files {
		folder := filepath.Dir(file)
		c := testCase{name: filepath.Base(folder)}
		if omittedExamples[c.name] {
			continue
		}
		text, err := os.ReadFile(file)
		if err == nil {
			shop := strings.ReplaceAll(string(text), "http://127.0.0.1:8765", b.toolServer.URL+"/shop")
			c.idea, err = jsonval.DecodeObject([]byte(shop))
		}
		if err == nil {
			err = b.llm.readReplies(c.name, filepath.Join(folder, "replies.jsonl"))
		}
		if err != nil {
			return nil, fmt.Errorf("read example %s: %w", c.name, err)
		}
		if rows, _ := filepath.Glob(filepath.Join(folder, "instances.*")); len(rows) == 1 {
			c.instances, _ = filepath.Abs(rows[0])
		}
		cases = append(cases, c)
	}
	c, err := effectsCase(b)
	return append(cases, c), err
}

// omittedExamples names the examples with tools in other programs, the one with delegates (their prompts do not name
// the process), and the one with signed decisions.
var omittedExamples = map[string]bool{
	"mcp": true, "custom-worker": true, "invoices": true, "research": true, "payout": true,
}

// readReplies reads an example's replies of the LLM. An example without replies asks no LLM.
func (l *llm) readReplies(name, file string) error {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err == nil {
		l.repliesByCase[name], err = rehearsal.Parse(text)
	}
	return err
}

// The case effects has eight instances. Each has a chain of four Calls, the third of which must not run twice, and
// three more Calls.
const (
	effectsIdea = `{"config": {"gather": "2s"}, "schema": {"tools": {"step": {%[1]s, "_activity": {"http": {"url": "%[2]s/step"}}},
		"once": {%[1]s, "_activity": {"http": {"url": "%[2]s/once"}}, "_retry": {"attempts": 1}}}},
		"context": [{"type": "text", "text": "Take every step."}%[3]s]}`
	paramsSchema   = `"type": "object", "properties": {"who": {"type": "string"}, "n": {"type": "integer"}, "x": {}}, "additionalProperties": false`
	effectsReplies = `{"when": "\"r4\":\"", "ttft_ms": 100, "tps": 200, "solution": {"calls": [], "output": null}}
{"when": "Take every step", "ttft_ms": 300, "tps": 200, "solution": {"calls": [
{"_tool":"step","_instance":"*","who":"†state.who","n":1,"_outputPath":"r1"},
{"_tool":"step","_instance":"*","who":"†state.who","n":2,"x":"†state.r1","_outputPath":"r2"},
{"_tool":"once","_instance":"*","who":"†state.who","n":3,"x":"†state.r2","_outputPath":"r3"},
{"_tool":"step","_instance":"*","who":"†state.who","n":4,"x":"†state.r3","_outputPath":"r4"},
{"_tool":"step","_instance":"*","who":"†state.who","n":5,"_outputPath":"p1"},
{"_tool":"step","_instance":"*","who":"†state.who","n":6,"_outputPath":"p2"},
{"_tool":"once","_instance":"*","who":"†state.who","n":7,"_outputPath":"p3"}], "output": null}}`
)

func effectsCase(b *testBed) (testCase, error) {
	var states strings.Builder
	for n := 1; n <= 8; n++ {
		fmt.Fprintf(&states, `, {"type": "state", "_instance": "%d", "who": "instance %d"}`, n, n)
	}
	idea, err := jsonval.DecodeObject([]byte(fmt.Sprintf(effectsIdea, paramsSchema, b.toolServer.URL, states.String())))
	if err != nil {
		return testCase{}, err
	}
	lines := strings.ReplaceAll(strings.ReplaceAll(effectsReplies, "[\n", "["), ",\n", ",")
	b.llm.repliesByCase["effects"], err = rehearsal.Parse([]byte(lines))
	return testCase{name: "effects", idea: idea}, err
}

// writeFile writes the Idea of one process, with a text that tells the LLM which process is asking.
func (c testCase) writeFile(dir, process string) (string, error) {
	context, _ := c.idea["context"].([]any)
	content := jsonval.Object{"type": "text", "text": fmt.Sprintf("(process %s of %s)", process, c.name)}
	idea := maps.Clone(c.idea)
	idea["context"] = append([]any{content}, context...)
	file := filepath.Join(dir, process+".json")
	return file, os.WriteFile(file, jsonval.Encode(idea), 0o600)
}
