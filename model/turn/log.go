package turn

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
)

// LogEntry is one event since the Idea before, as an Idea of the chain keeps it: a Write to an instance's State, whose
// Author is a Call's id, or PersonPrefix and a name; a Decision, which has no Author; the Outcome of a Call on which
// people decided; or a Recheck.
type LogEntry struct {
	InstanceToken string `json:"instance"`
	// Write has no Combined here, since Ideas have the values of the store.
	statelog.Write
	// AuthorCall is the author as the LLM wrote it.
	AuthorCall ideafile.WrittenCall `json:"call,omitzero"`
	// Decision is a person's decision. In older chains a write has the decision that led to it here.
	Decision *approval.Decision `json:"decision,omitempty"`
	// Outcome is the final outcome of a Call.
	Outcome *CallOutcome `json:"outcome,omitempty"`
	// Recheck is the comparison of the LLM's two answers about the instance; nil: none.
	Recheck *AnswerComparison `json:"recheck,omitempty"`
	// ParamsAdaptation is set when the LLM adapted the Call's parameters before it ran.
	ParamsAdaptation *approval.ParamsAdaptation `json:"adapted,omitempty"`
	// PartProcessID is the part from whose log the whole process took the entry; empty: none.
	PartProcessID string `json:"part,omitempty"`
}

// CallOutcome is the outcome of a Call on which people decided.
type CallOutcome struct {
	CallID string              `json:"call"`
	Status ideafile.CallStatus `json:"status"`
	// ExecutedCall is the Call as it ran; nil if nothing ran.
	ExecutedCall *ExecutedCall `json:"ran,omitempty"`
	Fault        *diag.Fault   `json:"error,omitempty"`
}

// PersonPrefix is the beginning of Author for what a person wrote: person:NAME.
const PersonPrefix = "person:"

// OverlapsPath reports whether the entry wrote at a path, below it, or above it.
func (e LogEntry) OverlapsPath(p jsonval.Path) bool {
	return statelog.FirstAuthorAt([]statelog.Write{e.Write}, p) != ""
}

// PersonName returns the name of the person who wrote; ok is false if the author is no named person.
func (e LogEntry) PersonName() (name string, ok bool) {
	return strings.CutPrefix(e.Author, PersonPrefix)
}

// IsWrite reports whether the entry is a write.
func (e LogEntry) IsWrite() bool { return e.Author != "" }

// ApplyWrite adds a write to the list of an instance's writes, or removes the write that e withdraws.
func ApplyWrite(writes []LogEntry, e LogEntry) []LogEntry {
	if e.OutputMethod == statelog.MethodWithdraw {
		return slices.DeleteFunc(writes, func(o LogEntry) bool { return e.Withdraws(o.Write) })
	}
	return append(writes, e)
}

// writeFieldKeys are the keys that an entry has only if it is a write.
var writeFieldKeys = strings.Fields("path value by request index")

// EncodeLog returns the JSON value of a log. Times are in UTC, so that equal logs have equal bytes.
func EncodeLog(log []LogEntry) any {
	out := make([]any, len(log))
	for i, e := range log {
		e.WrittenAt = e.WrittenAt.UTC()
		if e.Decision != nil {
			d := *e.Decision
			d.DecidedAt = d.DecidedAt.UTC()
			e.Decision = &d
		}
		m := jsonval.AsObject(jsonval.ToJSONValue(e))
		if e.Decision != nil || e.Outcome != nil || e.Recheck != nil {
			for _, k := range writeFieldKeys {
				if !e.IsWrite() {
					delete(m, k)
				}
			}
		}
		out[i] = m
	}
	return out
}

// DecisionsForWrite returns people's decisions on the Call that made a write, or the revision that made it, and the
// Call as it ran after these; nil if nothing ran. log is the whole log of the instance.
func DecisionsForWrite(entry LogEntry, log []LogEntry) (decisions []approval.Decision, executedCall *ExecutedCall) {
	if entry.CorrectionNumber > 0 {
		name, _ := entry.PersonName()
		return []approval.Decision{{Kind: "revise", DecidedBy: name, Reason: entry.Reason, DecidedAt: entry.WrittenAt}},
			nil
	}
	if entry.Decision != nil {
		decisions = append(decisions, *entry.Decision)
	}
	callID := ideafile.FormatCallID(entry.Request, entry.Index, entry.InstanceToken)
	for _, e := range log {
		if e.Decision != nil && e.Decision.CallID == callID && !e.IsWrite() && !approval.IsRemark(e.Decision.Kind) {
			decisions = append(decisions, *e.Decision)
		}
		if e.Outcome != nil && e.Outcome.CallID == callID {
			executedCall = e.Outcome.ExecutedCall
		}
	}
	return decisions, executedCall
}

// SummarizeDecisions lists the decisions in a log for the meta of the Idea: each with its object, person, time and
// reason.
func SummarizeDecisions(log []LogEntry) []any {
	var list []any
	for _, e := range log {
		if e.Decision != nil && !e.IsWrite() {
			d := e.Decision
			list = append(list, jsonval.ToJSONValue(approval.Decision{Kind: d.Kind, CallID: d.CallID,
				DecidedBy: d.DecidedBy, Groups: d.Groups, OnBehalfOf: d.OnBehalfOf, Reason: d.Reason,
				RecipientName:  d.RecipientName,
				RecipientGroup: d.RecipientGroup, SignalID: d.SignalID, DecidedAt: d.DecidedAt.UTC(),
				AddedInstanceTokens: d.AddedInstanceTokens,
				SentNotifications:   d.SentNotifications, PlanRequest: d.PlanRequest}))
		}
	}
	return list
}

// DecodeLog is the inverse of EncodeLog.
func DecodeLog(v any) (log []LogEntry, err error) {
	if err := jsonval.ReadAs(v, &log); err != nil {
		return nil, fmt.Errorf("turn: decode log: %w", err)
	}
	return log, nil
}

// ExecutedCall is a Call as it really ran: after people's decisions, with its References resolved.
type ExecutedCall struct {
	Tool   string         `json:"tool"`
	Params jsonval.Object `json:"params"`
}

// AuthorOfPerson returns the author that the log names for what a person wrote: person:NAME, or person if the name is
// empty.
func AuthorOfPerson(name string) string {
	if name == "" {
		return "person"
	}
	return PersonPrefix + name
}
