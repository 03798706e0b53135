package turn

import (
	"fmt"
	"strings"
	"time"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Decision is what a person decided on a Call. The Call's record keeps it.
type Decision struct {
	// Kind is approve, reject, amend, replace or answer.
	Kind string `json:"decision"`
	Call string `json:"call"`
	// Digest is that of the PendingApproval that the person saw; empty if the signal named none.
	Digest string `json:"digest,omitempty"`
	// By is the person's name, or DecidedByTimeout.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// ID is as the signal's payload had it.
	ID string    `json:"id,omitempty"`
	At time.Time `json:"at"`
	// Params of an amended Call: values, never References.
	Params map[string]any `json:"params,omitempty"`
	// Replacement is the Call to run instead, in the form in which the LLM writes Calls.
	Replacement map[string]any `json:"with,omitempty"`
	// Output is the result that the person gave in place of running the Call.
	Output any `json:"output,omitempty"`
}

// DecidedByTimeout stands in By when nobody decided before the deadline.
const DecidedByTimeout = "timeout"

// PersonAuthor returns the author that the log names for what a person wrote: person:NAME, or person for one without a name.
func PersonAuthor(name string) string {
	if name == "" {
		return "person"
	}
	return PersonPrefix + name
}

const (
	maxReasonLength = 2000 // characters
	maxNameLength   = 200  // characters of a person's name, of a signal's id and of a Call's id
)

// ReadDecision reads the payload of a decision's signal; kind is the signal's name. The keys are call, digest, by, reason and id,
// and params for amend, with for replace, output for answer.
func ReadDecision(kind string, m map[string]any) (Decision, error) {
	d := Decision{Kind: kind}
	payloadKey := map[string]string{ideafile.Amend: "params", ideafile.Replace: "with", ideafile.Answer: "output"}[kind]
	err := ReadSignalTexts(m, payloadKey, map[string]*string{
		"call": &d.Call, "digest": &d.Digest, "by": &d.By, "reason": &d.Reason, "id": &d.ID,
	})
	if err != nil {
		return d, err
	}
	value, present := m[payloadKey]
	switch {
	case d.Call == "":
		return d, fmt.Errorf(`it names no Call: "call" is missing`)
	case kind == ideafile.Reject && strings.TrimSpace(d.Reason) == "":
		return d, fmt.Errorf(`a rejection says why: "reason" is missing`)
	case payloadKey != "" && !present:
		return d, fmt.Errorf("%s wants %q", kind, payloadKey)
	case payloadKey != "" && len(jsonval.Encode(value)) > jsonval.LargeValue:
		return d, fmt.Errorf("%q is larger than 64 KB", payloadKey)
	}
	// A value that looks like a handle is data: a person must not be able to read from the store with it.
	object, isObject := jsonval.Escape(value).(map[string]any)
	switch {
	case kind == ideafile.Answer:
		d.Output = jsonval.Escape(value)
	case payloadKey != "" && !isObject:
		return d, fmt.Errorf("%q is an object, not %s", payloadKey, jsonval.TypeOf(value))
	case kind == ideafile.Amend:
		d.Params = object
	case kind == ideafile.Replace:
		d.Replacement = object
	}
	return d, nil
}

// ReadSignalTexts reads the text keys of a signal's payload into texts. payloadKey is the one key that may hold something other
// than a text; empty if there is none. Any other key is an error.
func ReadSignalTexts(m map[string]any, payloadKey string, texts map[string]*string) error {
	for _, k := range jsonval.SortedKeys(m) {
		target, known := texts[k]
		if !known && (payloadKey == "" || k != payloadKey) {
			return fmt.Errorf("unknown key %q", jsonval.Clip(k, 80))
		}
		if !known || m[k] == nil {
			continue
		}
		s, ok := m[k].(string)
		if !ok {
			return fmt.Errorf("%q is a string, not %s", k, jsonval.TypeOf(m[k]))
		}
		limit := maxNameLength
		if k == "reason" {
			limit = maxReasonLength
		}
		if len([]rune(s)) > limit {
			return fmt.Errorf("%q is longer than %d characters", k, limit)
		}
		*target = s
	}
	return nil
}

// Describe says in words for the LLM what was decided, so that it does not propose the same again.
func (d Decision) Describe() string {
	by := d.By
	if by == "" {
		by = "a person"
	}
	s := map[string]string{
		ideafile.Approve: "approved", ideafile.Reject: "rejected", ideafile.Amend: "amended", ideafile.Replace: "replaced", ideafile.Answer: "answered",
	}[d.Kind] + " by " + by
	switch d.Kind {
	case ideafile.Amend:
		s += " to run with " + string(jsonval.Encode(d.Params))
	case ideafile.Replace:
		s += " with " + string(jsonval.Encode(d.Replacement))
	}
	if d.Reason != "" {
		s += ": " + d.Reason
	}
	return s
}
