// Package codecserver shows people the payloads of histories that are encrypted, or in the store: it is the codec
// server of the Temporal UI and of the temporal CLI.
//
// Invariants:
//   - It decrypts, so it restricts who may ask: only pages of Options.Origins or, if there are none, pages from this
//     machine. If a token is set, every request must carry it. Programs, whose requests have no origin, may ask only if
//     a token is set.
//   - A request is bounded in bytes.
package codecserver
