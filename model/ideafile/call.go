package ideafile

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// Call is one use of a Tool in one instance. Palette.ReadCall makes it from a WrittenCall.
//
// Invariant: its Params fit its Tool as far as can be checked before References are resolved.
type Call struct {
	// ID is 3.2@①, or 3.2 in the anonymous instance: Request, index and token.
	ID      string `json:"id"`
	Request int    `json:"request"`
	// Index is the position in the Request's solution, from 1.
	Index int    `json:"index"`
	Tool  string `json:"tool"`
	// Params may hold References.
	Params jsonval.Object `json:"params"`
	// OutputPath is where in State the result is written. A Call without one is run for its effect.
	OutputPath refexpr.OutputPath `json:"outputPath,omitempty"`
	// OutputMethod is an update method; empty is write-once.
	OutputMethod string `json:"method,omitempty"`
	// ReadableScopes lists the places that the Tool may read beside its parameters.
	ReadableScopes []string `json:"scopes,omitempty"`
	// AfterReferences lists the References that must exist before the Call starts, although it does not read them:
	// paths in State, and Calls (†call.1.3), which must be done.
	AfterReferences []string `json:"after,omitempty"`
	// Condition decides whether the Call runs; nil: it always runs.
	Condition *refexpr.Condition `json:"condition,omitempty"`
	// Undoes is the Call that this one undoes; nil: none.
	Undoes *UndoneCall `json:"undoes,omitempty"`
	// LatentOutput is the result that the LLM wrote for a latent Tool. It counts if HasLatentOutput.
	LatentOutput    any    `json:"output,omitempty"`
	HasLatentOutput bool   `json:"hasOutput,omitempty"`
	Reasoning       string `json:"reasoning,omitempty"`
}

// StateScopePaths lists the paths in State among its ReadableScopes.
func (c Call) StateScopePaths() (paths []jsonval.Path) {
	for _, scope := range c.ReadableScopes {
		if ref, err := refexpr.ParseScope(scope); err == nil && ref.Kind == TypeState {
			paths = append(paths, ref.Path)
		}
	}
	return paths
}

// Key is the place of the Call in the Plan.
func (c Call) Key() CallKey { return CallKey{c.Request, c.Index} }

// UndoneCall identifies a Call that another one undoes. It is the key under which a Call is undone only once, even if
// several people order it.
type UndoneCall struct {
	ProcessID string `json:"process"`
	CallID    string `json:"call"`
}

// FormatCallID returns the id of a Call. requestNumber and callIndex count from 1; a Plan that runs directly is Request
// 0.
func FormatCallID(requestNumber, callIndex int, instanceToken string) string {
	key := CallKey{requestNumber, callIndex}
	id := strconv.Itoa(requestNumber) + "." + strconv.Itoa(key.OriginalKey().Index)
	if key.IsUndo() {
		id += undoSuffix
	}
	if instanceToken != "" {
		id += "@" + instanceToken
	}
	return id
}

// InstanceTokenOfCallID returns the instance that a Call's id names; empty for the anonymous one.
func InstanceTokenOfCallID(id string) string {
	_, token, _ := strings.Cut(id, "@")
	return token
}

// TypeableCallID returns a Call's id as people type it: 3.2@1 for 3.2@①.
func TypeableCallID(id string) string {
	key, token, hasToken := strings.Cut(id, "@")
	if !hasToken {
		return id
	}
	return key + "@" + spelling.TypeableInstanceToken(token)
}

// MatchesCallID reports whether what was typed is a Call's id, in either spelling.
func MatchesCallID(typedID, id string) bool { return typedID == id || typedID == TypeableCallID(id) }

// CallIDWithExactToken returns a Call's id with the instance's own spelling of its token, if people typed the token
// differently. An id that names another instance stays as it is.
func CallIDWithExactToken(id, token string) string {
	key, typedToken, hasToken := strings.Cut(id, "@")
	if hasToken && token != "" && spelling.MatchesInstanceToken(typedToken, token) {
		return key + "@" + token
	}
	return id
}

// CallKey is the place of a Call in the Plan: its Request, and its index there, from 1. A Plan that runs directly is
// Request 0. Within an instance the key names the Call. In JSON it is [request, index].
type CallKey struct{ Request, Index int }

// A Call that undoes another Call of its instance has an index after all Calls of the Request, in the order of the
// undone Calls. Its id is the id of the undone Call with undoSuffix.
const (
	undoIndexOffset = 1 << 20
	undoSuffix      = "~undo"
)

// UndoKey is the key of the Call that undoes this one.
func (k CallKey) UndoKey() CallKey { return CallKey{k.Request, k.Index + undoIndexOffset} }

// IsUndo reports whether the Call undoes another one.
func (k CallKey) IsUndo() bool { return k.Index > undoIndexOffset }

// OriginalKey is the key of the Call that this Call undoes; its own key if it undoes none.
func (k CallKey) OriginalKey() CallKey {
	if k.IsUndo() {
		k.Index -= undoIndexOffset
	}
	return k
}

// Compare orders keys by their place in the Plan.
func (k CallKey) Compare(o CallKey) int {
	return cmp.Or(cmp.Compare(k.Request, o.Request), cmp.Compare(k.Index, o.Index))
}

// ID returns the Call's id in an instance.
func (k CallKey) ID(instanceToken string) string {
	return FormatCallID(k.Request, k.Index, instanceToken)
}

// MarshalJSON returns [request, index].
func (k CallKey) MarshalJSON() ([]byte, error) { return json.Marshal([2]int{k.Request, k.Index}) }

// UnmarshalJSON reads [request, index].
func (k *CallKey) UnmarshalJSON(data []byte) error {
	var pair [2]int
	err := json.Unmarshal(data, &pair)
	k.Request, k.Index = pair[0], pair[1]
	return err
}
