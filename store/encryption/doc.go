// Package encryption hides the data of processes from readers of Temporal's database or of the store. Keys come from
// the environment (Parse), and can be changed while processes run: the first key encrypts, all keys decrypt.
//
// Invariants:
//   - Encryption is authenticated: changed bytes cannot be decrypted.
//   - It is deterministic (AES-SIV, RFC 5297): equal bytes under one key give equal bytes, so that the store still
//     keeps equal values once.
//   - The id of the key is in the clear with the encrypted bytes; a key that is not here is a *MissingKeyError.
//   - A nil *Keys encrypts nothing.
package encryption
