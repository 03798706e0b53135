// Package sample makes up a value that fits a JSON Schema, for simulations that call no tool and no LLM.
//
// Sample is the only entry. It prefers what the schema itself names (`const`, an example, the default, a choice of `enum`) and
// else makes a small value: every named property, one item, the text SimulatedText.
//
// How a value is made: flatten merges a node with what it refers to and with its `allOf` into one schema; each choice of
// `oneOf`, `anyOf` or `if` gives a schema of its own; function `values` makes several candidates for that schema, and those that do
// not fit are dropped. Merging need not be exact, because the whole schema decides in the end.
//
// Invariants, held by the property tests:
//
//   - A value that Sample gives fits the schema; otherwise it gives an error that wraps ErrNoSample or says what is wrong with
//     the schema.
//   - The same schema gives the same value each time.
//   - Whatever the schema, it ends: the nodes visited, the depth of references and the size of a value have bounds.
package sample
