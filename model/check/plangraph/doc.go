// Package plangraph draws a Plan: its nodes are Calls, its edges are data flow through State.
//
// Mermaid and DOT are the two forms. An edge leads from the Call that writes a value to the Call that reads it, with
// the path as its label. What no Call writes has a node of its own: a parallelogram for inputs, a cylinder for State.
// Calls that compete to write one path are joined by dashed edges.
//
// Invariants, held by the property tests:
//
//   - A drawing depends on the Calls as they are written and on nothing else: neither on their Tools nor on any State.
//     A Call that is wrong is drawn as far as it can be read.
//   - The same Plan gives the same text each time.
//   - No name, path or instance breaks the diagram, whatever its characters: a label shows it, clipped, on one line.
package plangraph
