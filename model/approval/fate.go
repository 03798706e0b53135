package approval

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"processidea/model/jsonval"
)

// Fate is the outcome of a person's act: a signal, or one of many decisions in a signal.
type Fate struct {
	// ID, CallID and SentBy are as in the act's payload.
	ID     string `json:"id,omitempty"`
	Signal string `json:"signal"`
	CallID string `json:"call,omitempty"`
	SentBy string `json:"by,omitempty"`
	// StandingOrderID names the standing order under which the act would have approved the Call, and Digest is the
	// digest of the approval; empty: none.
	StandingOrderID string `json:"under,omitempty"`
	ApprovalDigest  string `json:"digest,omitempty"`
	// RefusalReason is why the act was refused and changed nothing; empty: the act was accepted.
	RefusalReason string    `json:"reason,omitempty"`
	ReceivedAt    time.Time `json:"at"`
	// Votes is how many people have decided the same; set only for an accepted decision.
	Votes VoteCount `json:"count,omitzero"`
	// IsForwarded means that a whole process sent the act to the instance directly, past its part. The part reports the
	// Fate although the act did not come through it.
	IsForwarded bool `json:"passedOn,omitempty"`
	// HasNothingToDo means that the act was refused because there was nothing to do.
	HasNothingToDo bool `json:"nothing,omitempty"`
	// RefusalCode tells programs why the act was refused; empty: the refusal has no code.
	RefusalCode string `json:"code,omitempty"`
}

// Refusal is why an act is refused, with a code.
type Refusal struct{ Code, Text string }

func (r Refusal) Error() string { return r.Text }

// CodeNotAtRest refuses an act until nothing runs. CodeUndoUnderWay refuses an undo until the undo before it has ended.
const (
	CodeNotAtRest    = "not-at-rest"
	CodeUndoUnderWay = "undo-under-way"
)

// NothingToDoError is the refusal of an act for which there was nothing to do.
type NothingToDoError string

func (n NothingToDoError) Error() string { return string(n) }

const forwardedKey = "passedOn"

// WithForwardedMark is the payload of an act that a whole process sends to an instance directly, past its part.
func WithForwardedMark(payload jsonval.Object) jsonval.Object {
	payload = maps.Clone(payload)
	payload[forwardedKey] = true
	return payload
}

// WithoutForwardedMark is the payload of an act as a person sent it.
func WithoutForwardedMark(payload jsonval.Object) jsonval.Object {
	return jsonval.WithoutKey(payload, forwardedKey)
}

// VoteCount is how many people have decided the same, and how many must: after 1 of 2 the Call still waits for a second
// person.
type VoteCount struct {
	Have int `json:"have"`
	Want int `json:"want"`
}

// NewFate begins the Fate of an act, given the payload of its signal.
func NewFate(signal string, payload jsonval.Object, receivedAt time.Time) Fate {
	text := func(key string) string { return jsonval.Clip(jsonval.AsText(payload[key]), maxNameOrIDLength) }
	f := Fate{
		Signal: signal, ID: text(signalIDKey), CallID: text("call"), SentBy: text("by"),
		StandingOrderID: StandingOrderIDInPayload(payload),
		ReceivedAt:      receivedAt,
	}
	if id := text(actIDKey); IsOrderSignal(signal) && id != "" {
		f.ID = id
	}
	f.IsForwarded = payload[forwardedKey] == true
	if f.StandingOrderID != "" {
		f.ApprovalDigest = text("digest")
	}
	return f
}

// Limits of what is kept and queried.
const (
	maxFates             = 5000
	maxListedRefusals    = 100  // in a list
	MaxActsPerQuery      = 2000 // in one query
	maxRefusalTextLength = 1000 // characters
)

// FateLog keeps what became of the latest acts, and which acts are under way. An act without an id is kept only if it
// was refused.
//
// Invariants: an id keeps its first Fate until 5,000 later ones have come; an act under way has no Fate.
type FateLog struct {
	Latest       []Fate          `json:"last"`
	RefusedCount int             `json:"count"` // of all refused acts
	UnderWayIDs  map[string]bool `json:"underWay,omitempty"`
	fateByID     map[string]Fate // of Latest; nil: not built yet
}

// MarkUnderWay records an act whose Fate will follow.
func (l *FateLog) MarkUnderWay(actID string) {
	if _, isKnown := l.findFate(actID); actID == "" || isKnown {
		return
	}
	if l.UnderWayIDs == nil {
		l.UnderWayIDs = map[string]bool{}
	}
	l.UnderWayIDs[actID] = true
}

// RecordFate keeps the Fate of an act, and reports whether it did. It drops the Fate of an accepted act that was not
// under way, because nobody asks for it.
func (l *FateLog) RecordFate(f Fate) (isRecorded bool) {
	f.RefusalReason = jsonval.Clip(f.RefusalReason, maxRefusalTextLength)
	if f.RefusalReason != "" {
		l.RefusedCount++
	} else if !l.UnderWayIDs[f.ID] {
		return false
	}
	delete(l.UnderWayIDs, f.ID)
	if _, isKnown := l.findFate(f.ID); !isKnown && f.ID != "" {
		l.fateByID[f.ID] = f
	}
	l.Latest = append(l.Latest, f)
	if len(l.Latest) > maxFates {
		delete(l.fateByID, l.Latest[0].ID)
		l.Latest = l.Latest[1:]
	}
	return true
}

func (l *FateLog) findFate(actID string) (f Fate, isKnown bool) {
	if l.fateByID == nil {
		l.fateByID = map[string]Fate{}
		for _, f := range l.Latest {
			if _, exists := l.fateByID[f.ID]; !exists && f.ID != "" {
				l.fateByID[f.ID] = f
			}
		}
	}
	f, isKnown = l.fateByID[actID]
	return f, isKnown
}

// Refusals lists the last hundred refused acts; never nil.
func (l *FateLog) Refusals() []Fate {
	refusals := []Fate{}
	for n := len(l.Latest) - 1; n >= 0 && len(refusals) < maxListedRefusals; n-- {
		if l.Latest[n].RefusalReason != "" {
			refusals = append(refusals, l.Latest[n])
		}
	}
	slices.Reverse(refusals)
	return refusals
}

// The states of an act in an ActOutcome.
const (
	ActAccepted = "taken"
	ActRefused  = "refused"
	ActUnderWay = "underWay" // its Fate is not known yet: the workflow goes on in another run, which is asked again
	ActUnknown  = "unknown"
)

// ActOutcome says what became of the act with an id.
type ActOutcome struct {
	ID            string    `json:"id"`
	Status        string    `json:"became"`           // taken, refused, underWay or unknown
	RefusalReason string    `json:"reason,omitempty"` // why it was refused, or is not known
	RefusalCode   string    `json:"code,omitempty"`   // of a Refusal
	Votes         VoteCount `json:"count,omitzero"`   // of a decision that was taken
}

const unknownActText = "the process knows no act with this id: none has arrived, or it was more than 5,000 acts ago"

// Outcomes returns the outcomes of acts, in their order. areAllActsBegun means that every act received so far has
// begun; otherwise an unknown act may still be received.
func (l *FateLog) Outcomes(actIDs []string, areAllActsBegun bool) (list []ActOutcome) {
	for _, id := range actIDs {
		o := ActOutcome{ID: id, Status: ActAccepted}
		switch f, isKnown := l.findFate(id); {
		case isKnown && f.RefusalReason != "":
			o.Status, o.RefusalReason, o.RefusalCode = ActRefused, f.RefusalReason, f.RefusalCode
		case isKnown:
			o.Votes = f.Votes
		case l.UnderWayIDs[id] || !areAllActsBegun:
			o.Status = ActUnderWay
		default:
			o.Status, o.RefusalReason = ActUnknown, unknownActText
		}
		list = append(list, o)
	}
	return list
}

// AreOutcomesKnown reports whether the outcomes of these acts are known: none of them is under way.
func (l *FateLog) AreOutcomesKnown(actIDs []string, areAllActsBegun bool) bool {
	return !slices.ContainsFunc(l.Outcomes(actIDs, areAllActsBegun),
		func(o ActOutcome) bool { return o.Status == ActUnderWay })
}

// CheckActIDs returns what is wrong with the ids of a query.
func CheckActIDs(ids []string) error {
	switch {
	case len(ids) == 0:
		return errors.New(`it asks for nothing: "ids" is missing`)
	case len(ids) > MaxActsPerQuery:
		return fmt.Errorf("%d ids are too many for one question, which takes %d", len(ids), MaxActsPerQuery)
	}
	for n, id := range ids {
		if length := len([]rune(id)); length == 0 || length > maxNameOrIDLength {
			return fmt.Errorf("ids[%d] has %d characters, where an id has 1 to %d", n, length, maxNameOrIDLength)
		}
	}
	return nil
}
