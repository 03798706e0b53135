// Package holdups knows which processes a worker holds up for a cause outside them: a store that cannot be written, an
// LLM's server that is unavailable, or a cause that only Temporal knows. It reports the causes to the processes, the
// worker's log and the metrics, and withdraws them when they are gone.
//
// Invariants:
//   - A process receives a cause once, and again every few minutes while it lasts. Without renewal it forgets the
//     cause, since a killed worker cannot withdraw it.
//   - A single failed write is not reported.
package holdups
