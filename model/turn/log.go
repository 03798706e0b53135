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

// LogEntry is one thing that changed an instance since its process's Idea before: a write to its State, and who made it.
type LogEntry struct {
	Instance string       `json:"instance"`
	Path     jsonval.Path `json:"path"`
	// OutputMethod is how Value was put there; empty is write-once.
	OutputMethod string `json:"method,omitempty"`
	Value  any    `json:"value"`
	By     string `json:"by"` // a Call's id, or PersonPrefix and a name
	// Request and Index are the author's place in the Plan.
	Request int `json:"request"`
	Index   int `json:"index"`
	// Correction orders what people set at one place in the Plan, behind what stood there; 0: no correction.
	Correction int       `json:"correction,omitempty"`
	At         time.Time `json:"at,omitzero"`
	// Call is the Call as the LLM wrote it.
	Call     ideafile.WrittenCall `json:"call,omitzero"`
	Decision *LogDecision         `json:"decision,omitempty"`
	// Adapted is what the LLM fitted of the Call's parameters before it ran.
	Adapted *Adaptation `json:"adapted,omitempty"`
}

// LogDecision is what a person decided, and why. Digest is that of the Call as the person saw it.
type LogDecision struct {
	Kind string    `json:"decision,omitempty"`
	By       string    `json:"by,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	At       time.Time `json:"at,omitzero"`
	Digest   string    `json:"digest,omitempty"`
}

// PersonPrefix begins the author of what a person wrote: person:NAME.
const PersonPrefix = "person:"

// Touches says whether the entry wrote a path, wrote below it, or wrote it as part of something whole.
func (e LogEntry) Touches(p jsonval.Path) bool {
	return statelog.WriterOf([]statelog.Write{{Path: e.Path, Value: e.Value, By: "somebody"}}, p) != ""
}

// PersonName gives the name of the person who wrote; ok is false where a Call did.
func (e LogEntry) PersonName() (name string, ok bool) { return strings.CutPrefix(e.By, PersonPrefix) }

// EncodeLog gives a log as the JSON value that is kept, times in UTC.
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

// DecodeLog reads what LogValue gave.
func DecodeLog(v any) ([]LogEntry, error) {
	d := json.NewDecoder(bytes.NewReader(jsonval.Encode(v)))
	d.UseNumber()
	var log []LogEntry
	if err := d.Decode(&log); err != nil {
		return nil, fmt.Errorf("model: read log: %w", err)
	}
	return log, nil
}
