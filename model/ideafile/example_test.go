package ideafile_test

import (
	"fmt"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

const refunds = `{
	"schema": {"tools": {"refund": {
		"type": "object",
		"properties": {"amount": {"type": "integer", "minimum": 1}},
		"required": ["amount"],
		"_approval": {"when": {"properties": {"amount": {"minimum": 500}}}}
	}}},
	"context": [
		{"type": "text", "text": "Refund what was paid twice."},
		{"type": "state", "_instance": "①", "paid": 700},
		{"type": "state", "_instance": "②", "paid": 20}
	]
}`

func ExampleParseIdea() {
	idea, problems := ideafile.ParseIdea([]byte(refunds))
	fmt.Println(len(problems), idea.InstanceTokens(), idea.Tool("refund").Timeout)

	_, problems = ideafile.ParseIdea([]byte(`{"config": {"batch": 0}, "schemas": {}}`))
	for _, p := range problems.Errors() {
		fmt.Println(p.JSONPath, p.Message)
	}
	// Output:
	// 0 [① ②] 1m0s
	// $.schemas unknown key "schemas"; an Idea has $schema, meta, config, schema, context, solution, delegates; did you mean schema?
	// $.config.batch want a whole number from 1 to 2147483647, not 0; or "auto"
}

func ExamplePalette_ReadCall() {
	idea, _ := ideafile.ParseIdea([]byte(refunds))
	palette := ideafile.Palette{Tools: idea.Tools, InstanceTokens: idea.InstanceTokens()}

	for _, text := range []string{
		`{"_tool": "refund", "_instance": "*", "amount": "†state.paid"}`,
		`{"_tool": "refund", "_instance": "①", "amount": 0}`,
		`{"_tool": "refund", "amount": 20}`,
	} {
		value, _ := jsonval.Decode([]byte(text))
		call, tokens, fault := palette.ReadCall(ideafile.ParseWrittenCall(value))
		if fault != nil {
			fmt.Println(fault.Code, tokens)
			continue
		}
		fmt.Println(call.Tool, call.Params, tokens)
	}
	// Output:
	// refund map[amount:†state.paid] [① ②]
	// bad_parameters [①]
	// bad_instance []
}
