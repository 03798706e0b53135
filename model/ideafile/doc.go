// ParseIdea reads a file; Palette.ReadCall checks one Call. All words of the file format are in this package: Ideas are
// written as the same JSON.
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
