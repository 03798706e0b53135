// Package ripen says what people did with the Calls that they were asked about, and when they would have to be asked.
//
// Judge takes the logs of processes and returns a Finding for each Tool. It looks for what the Calls that people
// changed (amended, rejected, replaced or answered) had in common and those that they approved as they were had not,
// and makes of it the `when` of an `_approval`.
//
// Invariants:
//
//   - A policy is proposed only if it would have asked about every Call that people changed.
//   - It asks about all that is not known: it leaves out only what lies with Calls that people approved as they were.
//   - What nobody looked at, since a deadline or a standing order decided, says nothing of what people would have done.
//   - A policy never asks about a Call that the present one does not ask about: of those nothing is known.
package ripen
