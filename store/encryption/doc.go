// Package encryption hides the data of processes from readers of Temporal's database or of the store. Keys come from
// the environment (Parse), and can be changed while processes run: the first key encrypts, all keys decrypt.
//
// Invariants:
//   - Encryption is authenticated: what was changed does not open.
//   - It is deterministic (AES-SIV, RFC 5297): equal bytes under one key give equal bytes, so that the store still
//     keeps equal values once.
//   - What says which key opens something stands in the clear; a key that is not here is a *MissingKeyError.
//   - A nil *Keys encrypts nothing.
package encryption
