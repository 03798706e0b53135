// Package ideafile reads Idea files: the start of a process, and each of its snapshots. An Idea is JSON with
// `schema` (the palette of Tools, the form of the output), `context` (Messages) and `solution` (the Calls of one
// Request).
//
// Main types:
//
//	Idea                      the whole, with its Config
//	Message, InstanceView     one entry of the context; what one instance sees of them
//	Tool, MetaProperty        a capability: parameters, meta properties, when a person must decide
//	ToolBinding, Simulation   what runs a Tool; what makes up its results instead
//	WrittenCall, Palette      a Call as it was written; what it may use
//	Call                      the Call after it was checked against its palette
//	CallKey, CallStatus       a Call's position in the Plan, and its status
//	DirectPlans               the Plans that run without a Request
//	MCPServer                 servers whose tools join the palette before the process starts
//
// ParseIdea reads a file; Palette.ReadCall checks one Call. The words of the file format are in this package, but for
// approvals (approval/policy) and `_rate` (limit): Ideas are written as the same JSON.
//
// Invariants:
//   - Values are JSON values as jsonval.Decode returns them (map[string]any, []any, string, json.Number, bool, nil)
//     and are never changed in place, so that they may be shared. A change returns another Idea.
//   - Reading never stops at the first problem: each has its place in the file, in the order of the file's parts.
//   - A file with errors is never run. Unknown keys are errors, so nothing is ignored silently.
//   - A Call cannot grant itself anything: meta properties that its Tool does not declare make it invalid.
//   - An instance sees the shared Messages and its own, never another's.
//   - Same input, same result: no clock, no I/O, no map order. Workflows call this package, and replay it.
package ideafile
