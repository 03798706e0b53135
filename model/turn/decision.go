package turn

import (
	"fmt"
	"strings"
	"time"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Decision is what a person decided on a Call, as it stands on the Call's record.
type Decision struct {
	Kind string    `json:"decision"` // approve, reject, amend, replace or answer
	Call     string    `json:"call"`
	Digest   string    `json:"digest,omitempty"` // of what was decided on
	By       string    `json:"by,omitempty"`     // a name; "timeout" where nobody decided in time
	Reason   string    `json:"reason,omitempty"`
	ID       string    `json:"id,omitempty"` // as the signal gave it
	At       time.Time `json:"at"`
	// Params of an amended Call: values, never References.
	Params map[string]any `json:"params,omitempty"`
	// Replacement is the Call that replaced, as the LLM would write it.
	Replacement map[string]any `json:"with,omitempty"`
	// Output is the result that a person gave.
	Output any `json:"output,omitempty"`
}

// byTimeout is who decides where nobody did.
const DecidedByTimeout = "timeout"

// PersonAuthor names the author of what a person wrote.
func PersonAuthor(name string) string {
	if name == "" {
		return "person"
	}
	return "person:" + name
}

const (
	maxReasonLength = 2000 // characters of a person's reason
	maxNameLength   = 200  // characters of a person's name, of a signal's id and of a Call's id
)

// ReadDecision reads the payload of a decision's signal. Its keys are call, digest, by, reason and id, and for amend
// params, for replace with, for answer output.
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
	// A value that looks like a handle is data: a person's word opens nothing in the store.
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

// readTexts reads the keys of a signal that are texts, and refuses unknown ones.
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

// Describe words a decision for the LLM: what a person decided is not its to propose again.
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
