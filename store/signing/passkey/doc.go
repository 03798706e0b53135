// Package passkey checks what a passkey has signed, and takes in passkeys that a browser has made (WebAuthn,
// https://www.w3.org/TR/webauthn-3/). For whom a passkey speaks is in package signing.
//
// A passkey does not sign what it is given: it signs where it was used, that a person was there, and a challenge. The
// challenge of a proof is the SHA-256 of its payload, so that the signature is one of that payload.
//
// Invariant: what counts was signed on a page that the passkey's own entry names, by a device that found out who used
// it (user verification).
package passkey
