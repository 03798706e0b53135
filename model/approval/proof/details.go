package proof

import (
	"processidea/model/jsonval"
)

// DetailsDigest is the digest in a proof for the rest of a decision: the SHA-256, in hex, of the canonical JSON
// (jsonval.Encode) of an object with the keys reason, to, toGroup, params, with, output and calls of the decision's
// signal, as far as present. A text that is null or empty counts as absent; an output of null counts as present. by and
// groups are excluded, since the proof names who decides. id is excluded, since it belongs to the signal.
func DetailsDigest(payload jsonval.Object) string {
	details := jsonval.Object{}
	for _, k := range []string{"reason", "to", "toGroup", "params", "with", "output", "calls"} {
		v, exists := payload[k]
		isText := k == "reason" || k == "to" || k == "toGroup"
		if exists && (!isText || (v != nil && v != "")) {
			details[k] = v
		}
	}
	return Digest(details)
}

// Digest is the SHA-256, in hex, of a value's canonical JSON.
func Digest(v any) string { return jsonval.Digest(jsonval.Encode(jsonval.ToJSONValue(v))) }
