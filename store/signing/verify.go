package signing

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"processidea/model/approval/proof"
	"processidea/model/jsonval"
	"processidea/store/signing/passkey"
)

// acceptedAlgorithms are the accepted signature algorithms. All are asymmetric: no verifier has the signing secret.
var acceptedAlgorithms = []jose.SignatureAlgorithm{jose.EdDSA, jose.ES256, jose.RS256}

// Verify checks the form and the signature of a proof, and that the key may speak for the person and the groups that it
// names. The caller must check what the proof is for, and when, by the Finding's Claims.
func (k *Keys) Verify(jws string) proof.Verification {
	verification, err := k.verify(jws)
	if err != nil {
		verification.RefusalReason = err.Error()
	}
	return verification
}

func (k *Keys) verify(jws string) (verification proof.Verification, err error) {
	h, err := readHeader(jws)
	if err != nil {
		return verification, err
	}
	key := k.Find(h.keyID)
	if key == nil {
		return verification, unknownKeyError(h.keyID)
	}
	if h.algorithm != string(key.algorithm) {
		return verification, fmt.Errorf("the proof says alg %s, and the key %s is one for %s", h.algorithm, key.ID,
			key.algorithm)
	}
	payload, err := key.verifiedPayload(jws, h)
	if err != nil {
		return verification, err
	}
	verification.KeyThumbprint, verification.KeyWithdrawnAt = key.Thumbprint, key.WithdrawnAt
	if verification.Claims, err = proof.ReadClaims(payload); err != nil {
		return verification, err
	}
	if reason := key.denialReason(verification.Claims); reason != "" {
		return verification, errors.New(reason)
	}
	return verification, nil
}

// verifiedPayload checks the signature of a proof and returns its payload.
func (k *Key) verifiedPayload(jws string, h header) (payload []byte, err error) {
	if k.Passkey != nil || h.tokenType == passkey.Type {
		return k.verifiedPasskeyPayload(h)
	}
	parsedJWS, err := jose.ParseSignedCompact(jws, []jose.SignatureAlgorithm{k.algorithm})
	if err != nil {
		return nil, errors.New("the proof is no compact JWS")
	}
	if payload, err = parsedJWS.Verify(k.publicKey); err != nil {
		return nil, fmt.Errorf("the signature does not match: key %s did not sign this proof", k.ID)
	}
	return payload, nil
}

// unknownKeyError is the error for a key that is not among the trusted ones.
type unknownKeyError string

func (id unknownKeyError) Error() string {
	return fmt.Sprintf("the key %s is not among those that may speak for people here", jsonval.ClipForError(string(id)))
}

type header struct {
	algorithm, keyID, tokenType string
	parts                       [3][]byte // of the proof, decoded
}

// readHeader reads the protected header, which has alg, kid and perhaps typ, and nothing else: no key, no certificate,
// and no address of either.
//
// The three parts must be strict base64url: a proof with two spellings would count as two proofs.
func readHeader(jws string) (h header, err error) {
	parts := strings.Split(jws, ".")
	if len(parts) != 3 || len(jws) > proof.MaxProofLength {
		return h, fmt.Errorf("the proof is no compact JWS of at most %d bytes", proof.MaxProofLength)
	}
	for n, p := range parts {
		if h.parts[n], err = base64.RawURLEncoding.Strict().DecodeString(p); err != nil ||
			strings.ContainsAny(p, "\r\n") {
			return h, errors.New("the proof is no compact JWS: it is not base64url")
		}
	}
	m, err := jsonval.DecodeObject(h.parts[0])
	if err != nil {
		return h, errors.New("the header of the proof is no JSON object")
	}
	for k, v := range jsonval.Sorted(m) {
		switch k {
		case "alg", "kid", "typ":
			if _, ok := v.(string); !ok {
				return h, fmt.Errorf("%q in the header of the proof is no text", k)
			}
		default:
			return h,
				fmt.Errorf("the header of the proof has %q: only alg, kid and typ may be there, and no key",
					jsonval.ClipForError(k))
		}
	}
	h.algorithm = jsonval.AsText(m["alg"])
	h.keyID = jsonval.AsText(m["kid"])
	h.tokenType = jsonval.AsText(m["typ"])
	if !slices.Contains(acceptedAlgorithms, jose.SignatureAlgorithm(h.algorithm)) {
		return h, fmt.Errorf("the proof says alg %q; want EdDSA, ES256 or RS256", jsonval.Clip(h.algorithm, 40))
	}
	if h.keyID == "" {
		return h, errors.New(`the header of the proof does not say "kid", which key signed it`)
	}
	return h, nil
}
