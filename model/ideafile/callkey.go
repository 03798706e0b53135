package ideafile

import (
	"cmp"
	"encoding/json"
)

// CallKey is the place of a Call in the Plan: its Request, and its index there, from 1. Request 0 is the Plan that runs
// without one. Within an instance it names the Call. In JSON it is [request, index].
type CallKey struct{ Request, Index int }

// Compare orders keys as the Calls stand in the Plan.
func (k CallKey) Compare(o CallKey) int {
	return cmp.Or(cmp.Compare(k.Request, o.Request), cmp.Compare(k.Index, o.Index))
}

// ID is the Call's id in an instance.
func (k CallKey) ID(token string) string { return CallID(k.Request, k.Index, token) }

// MarshalJSON gives [request, index].
func (k CallKey) MarshalJSON() ([]byte, error) { return json.Marshal([2]int{k.Request, k.Index}) }

// UnmarshalJSON reads what MarshalJSON gives.
func (k *CallKey) UnmarshalJSON(data []byte) error {
	var pair [2]int
	err := json.Unmarshal(data, &pair)
	k.Request, k.Index = pair[0], pair[1]
	return err
}
