// Package passkey verifies the signatures of passkeys, and registers passkeys that a browser has made (WebAuthn,
// https://www.w3.org/TR/webauthn-3/). Package signing says whom a passkey speaks for.
//
// A passkey does not sign a payload directly: it signs where it was used, that a person was present, and a challenge.
// The challenge of a proof is the SHA-256 of its payload, so the signature covers that payload.
//
// Invariant: a valid signature was made on a page that the passkey's own entry names, by a device that verified the
// person (user verification).
package passkey
