// Package connect connects a program to Temporal and the store: it finds both (from the environment), makes the options
// that every client of processes needs, and starts processes.
//
// Invariants:
//   - Every client and every worker of a process is made from the same converter, keys and store, or it sees references
//     to payloads instead of payloads.
//   - With keys, error texts of tools and LLMs are encrypted in histories and left out of logs.
//   - The package knows no parts of workers: no Tools, no LLM, no workflows.
package connect
