// Package holdups knows which processes a worker holds up for a cause outside them: a store that cannot be written, an
// LLM's server that is unavailable; and what Temporal alone knows of. It reports that to the processes, the worker's
// log and the metrics, and withdraws it when the cause is gone.
//
// Invariants:
//   - A process receives a cause once, and again every few minutes while it lasts. Without renewal it forgets the
//     cause, since a killed worker cannot withdraw it.
//   - A single failed write is not reported.
package holdups
