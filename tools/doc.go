// Package tools is the registry of the Go functions that Calls may use, and their runner. Register adds a function; the
// JSON Schemas of its parameters and its result are reflected from its types.
//
// The functions that come with the program are in tools/builtin. Other kinds of Tools (HTTP, MCP) have packages of
// their own beside this one; tools/runner is common to all kinds, and tools/kinds lists them.
//
// Invariants:
//   - A function sees only parameters that fit its schema; Call refuses others with a final error.
//   - Numbers keep their digits in both directions, if the Go type can hold them.
//   - A function's panic becomes its final error, and never ends the worker.
//   - An error is retried unless it, or an error that it wraps, is final (Final).
package tools
