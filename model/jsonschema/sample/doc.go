// Package sample makes up a value that fits a JSON Schema, for simulations that call no tool and no LLM.
//
// MakeSample is the only entry. It takes a value from the schema (`const`, an example, the default, a choice of
// `enum`), or else the smallest informative value of the type: every named property, one item, the text SimulatedText.
// For `oneOf`, `anyOf` and `if` it takes the first choice that succeeds.
//
// It does not search: a schema whose keywords interact in ways that this rule does not see (`uniqueItems`, `contains`,
// `not`, `propertyNames`) gives ErrNoSample, and needs an example of its own.
//
// Invariants, held by the property tests:
//
//   - A value from MakeSample fits the schema; otherwise the error wraps ErrNoSample or describes an error in the
//     schema.
//   - The same schema gives the same value each time.
//   - Whatever the schema, it ends: the nodes visited, the depth of references and the size of a value have bounds.
package sample
