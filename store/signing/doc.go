// Package signing signs the proofs of decisions and checks them: keys, signatures, and whom a key may speak for. What a
// proof must say is in package proof.
//
// Keys are JWKs (RFC 7517), in a JWKS file or behind an https address. Further members say whom a key may speak for:
//
//	"iss"        the issuer that its proofs name; required
//	"people"     the people whom it may speak for, ["*"] for anybody; required
//	"groups"     the groups that it may assert for them, ["*"] for any; absent: none
//	"name"       another name of its one person; not with ["*"]
//	"passkey"    for a passkey, where it is used: {"rpId", "origins"}; it speaks for one person, its kid is its id
//	"withdrawn"  when it stopped being valid (RFC 3339): earlier decisions stay proven
//
// Invariant: a proof is checked with a key of this list and with no other, by the algorithm that belongs to the key's
// kind: EdDSA with Ed25519, ES256 with P-256, RS256 with RSA of 2048 to 8192 bits. A proof's header names
// a key of the list (kid), and contains none. Passkeys sign in a way of their own (package passkey).
package signing
