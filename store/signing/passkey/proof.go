package passkey

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"

	"processidea/model/jsonval"
)

// Type is the "typ" in the header of a proof that a passkey signed.
const Type = "webauthn"

// Assertion is the result of a passkey's signing, as WebAuthn names it.
type Assertion struct {
	AuthenticatorData []byte
	ClientDataJSON    []byte
	Signature         []byte
}

// Challenge returns the challenge that a passkey signs for a payload.
func Challenge(payload []byte) []byte {
	sum := sha256.Sum256(payload)
	return sum[:]
}

// ProofHeader returns the exact header of a proof signed by a passkey.
func ProofHeader(algorithm, keyID string) []byte {
	return jsonval.Encode(jsonval.Object{"alg": algorithm, "kid": keyID, "typ": Type})
}

// JoinProof assembles the proof. It has three parts, like a compact JWS; the third is the passkey's assertion instead
// of a signature over the first two.
func JoinProof(algorithm, keyID string, payload []byte, a Assertion) string {
	return encodeBase64URL(ProofHeader(algorithm, keyID)) + "." + encodeBase64URL(payload) + "." +
		encodeBase64URL(a.assertionPart())
}

// assertionPart returns the exact bytes of the third part of a proof.
func (a Assertion) assertionPart() []byte {
	return jsonval.Encode(jsonval.Object{
		"authenticatorData": encodeBase64URL(a.AuthenticatorData), "clientDataJSON": encodeBase64URL(a.ClientDataJSON),
		"signature": encodeBase64URL(a.Signature),
	})
}

var errNoAssertion = errors.New(
	"the signature of the proof is none of a passkey: want authenticatorData, clientDataJSON and signature")

// ReadAssertion reads the response of a browser to a challenge.
func ReadAssertion(response []byte) (a Assertion, err error) {
	m, err := jsonval.DecodeObject(response)
	if err != nil {
		return a, errNoAssertion
	}
	for name, target := range map[string]*[]byte{"authenticatorData": &a.AuthenticatorData,
		"clientDataJSON": &a.ClientDataJSON, "signature": &a.Signature} {
		text := jsonval.AsText(m[name])
		if *target, err = base64.RawURLEncoding.Strict().DecodeString(text); err != nil || len(*target) == 0 {
			return a, errNoAssertion
		}
	}
	return a, nil
}

// parseAssertionPart reads the third part of a proof. Only the spelling of assertionPart is valid.
func parseAssertionPart(part []byte) (a Assertion, err error) {
	if a, err = ReadAssertion(part); err == nil && string(a.assertionPart()) != string(part) {
		err = errNoAssertion
	}
	return a, err
}

func encodeBase64URL(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
