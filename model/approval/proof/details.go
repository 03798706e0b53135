package proof

import (
	"crypto/sha256"
	"encoding/hex"

	"processidea/model/jsonval"
)

// Details gives what a proof says of the rest of a decision: the SHA-256, in hex, of the canonical JSON
// (jsonval.Encode) of an object with those of reason, params, with, output and calls that the decision's signal has. A
// reason that is null or empty counts as absent; an output of null is there. by and groups are not among them: the
// proof says who decides. Neither is id, which is the signal's.
func Details(payload map[string]any) string {
	said := map[string]any{}
	for _, k := range []string{"reason", "params", "with", "output", "calls"} {
		v, has := payload[k]
		if has && (k != "reason" || (v != nil && v != "")) {
			said[k] = v
		}
	}
	return Digest(said)
}

// Digest is the SHA-256, in hex, of a value's canonical JSON.
func Digest(v any) string {
	sum := sha256.Sum256(jsonval.Encode(jsonval.ToJSONValue(v)))
	return hex.EncodeToString(sum[:])
}
