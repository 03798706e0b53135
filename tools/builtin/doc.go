// Package builtin holds the Go tools that come with the program: decide, selectJSON, formatText, currentTime, note, and
// fetch. Register adds them to a registry.
//
// Invariants:
//   - All but currentTime and fetch are pure: they have no effect and do no I/O, and run within workflow tasks.
//   - None runs for long, whatever it is given: texts, queries and schemas come from Idea files and LLMs. The queries
//     of selectJSON are charged for all that they make by package jq and reach nothing but their value.
//   - What is wrong with a Call's parameters is a final error.
package builtin
