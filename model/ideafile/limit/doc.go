// Package limit says whose turn it is where all workers share a limit, as that of a Tool is (`_rate`).
//
// Invariants:
//   - Turns are given in the order in which they were asked for first, those of a higher priority before others, and
//     begin evenly spaced.
//   - Nobody waits for one who is gone: a place in the Queue is lost where its holder does not come again when it was
//     told to, and a turn where nobody says any more that it lasts.
package limit
