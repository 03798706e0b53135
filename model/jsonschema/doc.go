// Package jsonschema compiles JSON Schemas behind a guard, and answers what they allow at a path before there is a
// value.
//
//   - Schema is a compiled schema: Validate and Matches check values against it.
//   - SubschemaAt finds the part of a schema that describes a path, SubschemasAt all that may check a value there;
//     TypesAt and CompareTypes compare the types that the one allows.
//   - InlineRefs and RebaseRefs move a part of a schema to another place with all that it refers to.
//   - WithoutNulls removes the nulls that strict mode forces for omitted properties.
//
// Invariants, held by the property tests and the fuzz test:
//
//   - Nothing is ever loaded: a reference that leaves the schema is an error.
//   - No schema and no value makes a function panic.
//   - The same schema and value give the same result in the same words each time, although the validator walks maps in
//     random order, because histories and prompts hold those words.
//   - A schema is never changed; its meta properties, whose names begin with `_`, are not the validator's business.
//
// Cache memoizes a pure function. It is safe for concurrent use.
package jsonschema
