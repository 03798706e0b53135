// Package holdups knows which processes a worker holds up, for what nobody inside them can mend: a store that takes
// nothing, an LLM's server that is away. It tells the processes, the worker's log and the metrics, and takes it back
// when the cause is gone.
//
// Invariants:
//   - A process is told of a cause once, and again every few minutes while it lasts: one that hears nothing for longer
//     forgets it, since a worker that was killed cannot take it back.
//   - A single write that fails is told to nobody.
package holdups
