package ideafile

import "fmt"

// ToolKind is how a Tool is run.
type ToolKind string

// The kinds of Tools.
const (
	KindGo       ToolKind = "go"       // a Go function that is registered with the worker
	KindHTTP     ToolKind = "http"     // an HTTP request
	KindMCP      ToolKind = "mcp"      // a tool of an MCP server
	KindLatent   ToolKind = "latent"   // nothing runs: the LLM writes the result
	KindDelegate ToolKind = "delegate" // another Idea runs as a process of its own
)

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
		if _, ok := a["mcp"]; ok {
			return Binding{Kind: KindMCP}, nil
		}
		return Binding{Kind: KindHTTP}, nil
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
