// Package signing signs the proofs of decisions and checks them: keys, signatures, and for whom a key may speak. What a
// proof must say is in package proof.
//
// Keys are JWKs (RFC 7517), in a JWKS file or behind an https address. Beside what RFC 7517 has, each says for whom it
// may speak:
//
//	"iss"        the issuer that its proofs name; wanted
//	"people"     the people for whom it may speak; ["*"]: anybody. Wanted
//	"groups"     the groups of which it may say that they are; ["*"]: any; absent: none
//	"name"       what its one person is called besides; not for ["*"]
//	"passkey"    where it is used, of a passkey: {"rpId", "origins"}. A passkey speaks for one person, and its kid is the id of the credential
//	"withdrawn"  since when it counts no more, as RFC 3339 has times: decisions that were taken before stay proven
//
// Invariant: a proof is checked with a key of this list and with no other, by the algorithm that belongs to the key's
// kind: EdDSA with Ed25519, ES256 with P-256, RS256 with RSA of 2048 to 8192 bits. A header says which key of the list
// it is (kid), and brings none along. A passkey signs in its own way (package passkey), and no other key does.
package signing
