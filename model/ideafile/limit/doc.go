// Package limit decides whose turn it is if all workers share a limit, such as a Tool's (`_rate`).
//
// Invariants:
//   - Turns are given by priority, then in the order in which they were first asked for, and begin evenly spaced.
//   - Nobody waits for a caller that is gone: a place in the Queue is lost if its caller does not return in time, and a
//     turn is lost if nobody renews it.
package limit
