package turn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// LogEntry is one write to an instance's State and its author. An Idea of the chain keeps those that were made since the Idea
// before it.
type LogEntry struct {
	Instance string       `json:"instance"`
	Path     jsonval.Path `json:"path"`
	// OutputMethod is how Value was combined with the value at the path; empty is write-once.
	OutputMethod string `json:"method,omitempty"`
	Value        any    `json:"value"`
	// By is the author: a Call's id, or PersonPrefix and a name.
	By string `json:"by"`
	// Request and Index are the author's place in the Plan.
	Request int `json:"request"`
	Index   int `json:"index"`
	// Correction numbers what people wrote at one place in the Plan: a correction applies after the Call at that place and after
	// the corrections before it. 0 for a Call's write.
	Correction int       `json:"correction,omitempty"`
	At         time.Time `json:"at,omitzero"`
	// Call is the author as the LLM wrote it.
	Call     ideafile.WrittenCall `json:"call,omitzero"`
	Decision *LogDecision         `json:"decision,omitempty"`
	// Adapted is set when the LLM adapted the Call's parameters before it ran.
	Adapted *Adaptation `json:"adapted,omitempty"`
}

// LogDecision is what a person decided on a Call, and why. Digest is that of the PendingApproval that the person saw.
type LogDecision struct {
	Kind   string    `json:"decision,omitempty"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at,omitzero"`
	Digest string    `json:"digest,omitempty"`
}

// PersonPrefix is the beginning of By for what a person wrote: person:NAME.
const PersonPrefix = "person:"

// Touches reports whether the entry wrote at a path, below it, or wrote an ancestor of it as a whole.
func (e LogEntry) Touches(p jsonval.Path) bool {
	return statelog.WriterOf([]statelog.Write{{Path: e.Path, Value: e.Value, By: "any"}}, p) != ""
}

// PersonName returns the name of the person who wrote; ok is false if a Call did.
func (e LogEntry) PersonName() (name string, ok bool) { return strings.CutPrefix(e.By, PersonPrefix) }

// EncodeLog returns the JSON value of a log. Times are in UTC, so that equal logs have equal bytes.
func EncodeLog(log []LogEntry) any {
	out := make([]LogEntry, len(log))
	for i, e := range log {
		e.At = e.At.UTC()
		if e.Decision != nil {
			d := *e.Decision
			d.At = d.At.UTC()
			e.Decision = &d
		}
		out[i] = e
	}
	return jsonval.Normal(out)
}

// DecodeLog is the inverse of EncodeLog.
func DecodeLog(v any) ([]LogEntry, error) {
	d := json.NewDecoder(bytes.NewReader(jsonval.Encode(v)))
	d.UseNumber()
	var log []LogEntry
	if err := d.Decode(&log); err != nil {
		return nil, fmt.Errorf("turn: decode log: %w", err)
	}
	return log, nil
}
