// Package bed holds the real parts with which works are measured: the embedded server with a database file, a worker,
// the blob store, a scripted LLM over HTTP, and tools over HTTP and in Go.
//
//   - TestBed is one set of these parts. Run runs a process on it, UseScript sets what the LLM answers.
//   - AwaitClosedRuns, HistoryMBByEventType, StoreMBByFolder and DatabaseMB measure what a process left behind.
//
// Invariant: beds share nothing, neither folder nor server, so that nothing that one bed stores is counted for another.
package bed
