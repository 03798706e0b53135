package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"processidea/starter/internal/exit"
)

// An agent starts the program, and speaks with it on its standard streams.
func TestAnAgentStartsAProcessOnTheStandardStreams(t *testing.T) {
	d := newDesk(t, map[string]string{
		"note.json": `{"schema": {"tools": {"note": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "_outputPath": "†state.noted"}}},
			"context": [{"type": "text", "text": "Write it down."}, {"type": "plan", "stage": "complete", "plan": [{"_tool": "note", "text": "†input.text"}]}]}`,
	})
	d.do("mcp", "nowhere").is(exit.Usage).complains("it is not a folder")
	c := exec.Command(d.program, "mcp", ".", "--ui-port", "-1", "--gateway-port", "-1")
	said := newLines()
	c.Dir, c.Env, c.Stderr = d.dir, d.env, said
	session, err := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil).Connect(t.Context(),
		&sdk.CommandTransport{Command: c}, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if tool.Name == "decide" {
			t.Error("an agent may decide although that is not switched on")
		}
	}
	r, err := session.CallTool(t.Context(),
		&sdk.CallToolParams{Name: "start_note",
			Arguments: json.RawMessage(`{"id": "spoken", "input": {"text": "hello"}, "wait": 60}`)})
	if err != nil || r.IsError {
		t.Fatalf("%v %v: %s", r, err, said)
	}
	if text := r.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, `"status":"completed"`) {
		t.Error(text)
	}
	if err := session.Close(); err != nil {
		t.Errorf("it ended with %v: %s", err, said)
	}
	says(t, "verify|spoken|--data|"+filepath.Join(d.dir, ".processidea"), exit.Done, "whole")
}
