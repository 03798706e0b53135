// Package plangraph draws a Plan: its nodes are Calls, its edges are data flow through State.
//
// Mermaid and DOT are the two text forms. An edge leads from the Call that writes a value to the Call that reads it,
// with the path as its label. A value that no Call writes has a node of its own: a parallelogram for inputs, a cylinder
// for State. Calls that compete to write one path are joined by dashed edges.
//
// Invariants, held by the property tests:
//
//   - A drawing depends only on the Calls as they are written and on the names in Labels, not on Tools or State. An
//     invalid Call is drawn as far as it can be read. Idea.WithToolFixedValues adds to a Call what its Tool fixes.
//   - The same Plan gives the same text each time.
//   - No name, path or instance breaks the diagram, whatever its characters: a label shows it, clipped, on one line.
package plangraph
