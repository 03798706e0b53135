package ideafile

import (
	"cmp"
	"fmt"

	"processidea/model/jsonval"
)

// ToolKind is how a Tool is run. A worker may have runners for other kinds than those below.
type ToolKind string

// The kinds of Tools that come with the program.
const (
	KindGo       ToolKind = "go"       // a Go function that is registered with the worker
	KindHTTP     ToolKind = "http"     // an HTTP request
	KindMCP      ToolKind = "mcp"      // a tool of an MCP server
	KindLatent   ToolKind = "latent"   // nothing runs: the LLM writes the result
	KindDelegate ToolKind = "delegate" // another Idea runs as a process of its own
)

// HasRunner reports whether a worker's runner runs Tools of this kind, in an activity. Workflows carry out the others.
func (k ToolKind) HasRunner() bool { return k != KindLatent && k != KindDelegate }

// ToolBinding is the runner of a Tool.
//
// Invariant: it is decided once, when the process starts, and carried along, so that a worker with other functions does
// not change a running process.
type ToolBinding struct {
	Kind ToolKind `json:"kind"`
	// GoFunctionName is the name of the Go function.
	GoFunctionName string `json:"name,omitempty"`
	// IsPureFunction means that the Go function has no effect and runs as a local activity.
	IsPureFunction bool `json:"pure,omitempty"`
	// Simulation is set if the Tool is not run: its result is made up.
	Simulation *Simulation `json:"simulated,omitempty"`
	// Undo is how the Go function can be undone; nil: it does not say.
	Undo *UndoMethod `json:"undo,omitempty"`
}

// ToolBindings maps the names of Tools to their bindings.
type ToolBindings = map[string]ToolBinding

// BindToRunner decides what runs a Tool. lookupGoFunction reports whether a Go function of a name is registered, and
// whether it is pure.
func (t *Tool) BindToRunner(lookupGoFunction func(name string) (isPure, isRegistered bool)) (ToolBinding, error) {
	if t.DelegateFile != "" {
		return ToolBinding{Kind: KindDelegate}, nil
	}
	if jsonval.TypeOf(t.RawActivity) == "object" {
		kind, _, _ := t.activityKind()
		return ToolBinding{Kind: kind}, nil
	}
	activityName := jsonval.AsText(t.RawActivity)
	name := cmp.Or(activityName, t.Name)
	isPure, isRegistered := lookupGoFunction(name)
	switch {
	case isRegistered:
		return ToolBinding{Kind: KindGo, GoFunctionName: name, IsPureFunction: isPure}, nil
	case activityName != "":
		return ToolBinding{}, fmt.Errorf("no activity %q is registered", activityName)
	}
	return ToolBinding{Kind: KindLatent}, nil
}

// RunnerSpec is what the runner of a Tool's kind receives: a Go function's name, an MCPRunnerSpec or, for any other
// kind, its value in `_activity`.
func (t *Tool) RunnerSpec(b ToolBinding, servers []MCPServer) any {
	switch b.Kind {
	case KindGo:
		return b.GoFunctionName
	case KindMCP:
		toolRef, ok := t.MCPToolRef()
		if !ok {
			return nil
		}
		return MCPRunnerSpec{Server: findMCPServer(servers, toolRef.ServerName), Tool: toolRef}
	}
	_, spec, _ := t.activityKind()
	return spec
}
