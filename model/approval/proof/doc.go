// Package proof checks the content of a decision's proof: which decision it is for, who took it, and when. A proof is a
// compact JWS (RFC 7515); its payload is Claims. Package signing verifies the signature, and whether the key may speak
// for that person; its result comes here as a Verification.
//
// Invariant: a proof counts for one decision only. It names the process, the Call, the digest of what was shown, and
// the SHA-256 of everything else in the decision, so that it cannot decide anything else, nor twice.
package proof
