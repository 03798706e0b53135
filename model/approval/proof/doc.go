// Package proof says what the proof of a decision must say: which decision it is for, who took it, and when. A proof is
// a compact JWS (RFC 7515); its payload is Claims. Whether its signature is right, and whether the key may speak for
// that person, package signing finds out; what it found comes here as a Finding.
//
// Invariant: a proof counts for one decision alone. It names the process, the Call, the digest of what was shown, and
// the SHA-256 of all else that the decision says, so that it decides nothing else, and not twice.
package proof
