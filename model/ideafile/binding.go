package ideafile

import "fmt"

// ToolKind is how a Tool is run. There may be others than those below: a worker knows a runner for each.
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

// Binding is what runs a Tool.
//
// Invariant: it is decided once, when the process starts, and carried along, so that a worker with other functions does not
// change a running process.
type Binding struct {
	Kind ToolKind `json:"kind"`
	// Name of the Go function.
	Name string `json:"name,omitempty"`
	// Pure functions have no effect and run as local activities.
	Pure bool `json:"pure,omitempty"`
	// Simulated is set if the Tool is not run: its result is made up.
	Simulated *Simulation `json:"simulated,omitempty"`
}

// Bind decides what runs a Tool. lookup reports whether a Go function of a name is registered, and whether it is pure.
func (t *Tool) Bind(lookup func(name string) (pure, ok bool)) (Binding, error) {
	if t.Delegate != "" {
		return Binding{Kind: KindDelegate}, nil
	}
	switch a := t.Activity.(type) {
	case map[string]any:
		kind, _, _ := t.activityKind()
		return Binding{Kind: kind}, nil
	case string:
		pure, ok := lookup(a)
		if !ok {
			return Binding{}, fmt.Errorf("no activity %q is registered", a)
		}
		return Binding{Kind: KindGo, Name: a, Pure: pure}, nil
	}
	if pure, ok := lookup(t.Name); ok {
		return Binding{Kind: KindGo, Name: t.Name, Pure: pure}, nil
	}
	return Binding{Kind: KindLatent}, nil
}

// RunSpec is what the runner of a Tool's kind is given of the Tool: a Go function's name, an MCPSpec, and of any other kind
// what stands in `_activity` under it.
func (t *Tool) RunSpec(b Binding, servers []MCPServer) any {
	switch b.Kind {
	case KindGo:
		return b.Name
	case KindMCP:
		return t.mcpSpec(servers)
	}
	_, spec, _ := t.activityKind()
	return spec
}
