// Package connect is how a program reaches Temporal and the store: where they are (the environment), the options that
// every client of processes needs, and how a process is started.
//
// Invariants:
//   - Every client and every worker of a process is made from the same converter, keys and store, or it sees references
//     to payloads instead of payloads.
//   - With keys, what tools and LLMs said when they failed is encrypted in histories and left out of logs.
//   - It knows nothing of workers' parts: no Tools, no LLM, no workflows.
package connect
