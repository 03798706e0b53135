// Package ripen reports what people did with the Calls that they were asked about, and when they would have to be
// asked.
//
// AnalyzeRuns takes the logs of processes and returns a Finding for each Tool. It compares the Calls that people
// changed (amended, rejected, replaced or answered) with those that they approved unchanged. From what only the changed
// ones have in common it makes the `when` of an `_approval`.
//
// Invariants:
//
//   - A policy is proposed only if it would have asked about every Call that people changed.
//   - It asks about everything unknown: it leaves out only Calls like those that people approved unchanged.
//   - A decision by a deadline or a standing order, which nobody looked at, says nothing of what people would have
//     done.
//   - A policy never asks about a Call that the present one does not ask about, since nothing is known of such Calls.
package ripen
