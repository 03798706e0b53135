// Package bed holds the real parts that works are measured on: the embedded server with a database file, a worker, the
// blob store, a scripted LLM over HTTP and tools, over HTTP and in Go.
//
//   - Bed is one set of them. Run runs a Process on it, Script says what the LLM answers.
//   - Runs, HistoryBytes, StoreBytes and DatabaseBytes measure what a process left behind.
//
// Invariant: a bed shares nothing with another, neither folder nor server, so that what one keeps is not counted for
// the other.
package bed
