// Package sample makes up a value that fits a JSON Schema, for simulations that call no tool and no LLM.
//
// MakeSample is the only entry. It takes what the schema itself names (`const`, an example, the default, a choice of
// `enum`), and else the smallest value of the type that shows something: every named property, one item, the text
// SimulatedText. Of `oneOf`, `anyOf` and `if` the first choice that comes out is taken.
//
// It does not search: a schema whose keywords play together in ways that this rule does not see (`uniqueItems`,
// `contains`, `not`, `propertyNames`) gives ErrNoSample, and needs an example of its own.
//
// Invariants, held by the property tests:
//
//   - A value that MakeSample gives fits the schema; otherwise it gives an error that wraps ErrNoSample or says what is
//     wrong with the schema.
//   - The same schema gives the same value each time.
//   - Whatever the schema, it ends: the nodes visited, the depth of references and the size of a value have bounds.
package sample
