// Package codecserver shows people what histories hold encrypted, or in the store: it is the codec server of the
// Temporal UI and of the temporal CLI.
//
// Invariants:
//   - It decrypts, so it is careful about who asks: pages of Options.Origins only, or, where none are given, pages from
//     this machine. With a token every request must carry it, and programs, which ask from no page, may ask only with
//     one.
//   - A request is bounded in bytes.
package codecserver
