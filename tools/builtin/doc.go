// Package builtin holds the Go tools that come with the program: decide, selectJSON, formatText, currentTime, note, and
// fetch. Register adds them to a registry.
//
// Invariants:
//   - All but currentTime and fetch are pure: they have no effect and do no I/O, and run within workflow tasks.
//   - None runs for long, whatever its input: texts, queries and schemas come from Idea files and LLMs. Package jq
//     bounds the values that the queries of selectJSON make, and gives them access to nothing but their input.
//   - An invalid parameter is a final error.
package builtin
