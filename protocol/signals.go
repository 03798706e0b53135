package protocol

import (
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// CallsSignal hands an instance Calls of one Request, in the order in which they closed in the stream.
type CallsSignal struct {
	RequestNumber int                  `json:"request"`
	Calls         []turn.DeliveredCall `json:"calls,omitempty"`
	LLMAnswers    []LLMAnswer          `json:"results,omitempty"`
	// IsLast is whether this is the last signal for the Request.
	IsLast bool `json:"last,omitempty"`
	// IsRestOfRequest is whether the process sends the Calls, after the Request broke off.
	IsRestOfRequest bool `json:"rest,omitempty"`
	// WantsReview is whether the signal has no new Calls, but a person must look at the Calls that have not started, as
	// their Why says.
	WantsReview bool `json:"review,omitempty"`
	// CausedBy lists who has added or revised the instance before the Calls were planned.
	CausedBy []policy.Identity `json:"causedBy,omitempty"`
}

// LLMAnswer is the result of a latent Call that the LLM was asked for separately or, if HasFittedParams, a Call's
// parameters that the LLM fitted to the Tool's schema.
type LLMAnswer struct {
	CallID          string         `json:"call"`
	Output          any            `json:"output"`
	Params          map[string]any `json:"params,omitempty"`
	HasFittedParams bool           `json:"fitted,omitempty"`
}

// CloseRequestSignal closes a Request that broke off: the instance accepts no more of its Calls from the Request
// activity.
type CloseRequestSignal struct {
	RequestNumber int `json:"request"`
	// WillSendRest is whether the process will send the rest of the Calls, once it knows what every instance has
	// accepted. Until then the Request stays open.
	WillSendRest bool `json:"restComes,omitempty"`
	// MustReportCalls is whether the instance must report all Calls of the Request again, as they were written, because
	// the process has not received the reply.
	MustReportCalls bool `json:"tellCalls,omitempty"`
}

// RequestHoldUpSignal tells a process what its Request waits for; HoldUp nil: it no longer waits.
type RequestHoldUpSignal struct {
	RequestNumber int          `json:"request"`
	HoldUp        *turn.HoldUp `json:"heldUp,omitempty"`
}

// WorkerHoldUpSignal reports to a process a cause that holds it up; HoldUp nil: the cause is gone.
type WorkerHoldUpSignal struct {
	Cause  string       `json:"cause"`
	HoldUp *turn.HoldUp `json:"heldUp,omitempty"`
	// WorkerID is the sender if it reports only its own Calls: it withdraws no report of others. Empty: the cause is
	// the same for all workers.
	WorkerID string `json:"worker,omitempty"`
}

// EndInstanceSignal ends an instance with a status, or first makes it undo what it did.
type EndInstanceSignal struct {
	Status   ideafile.InstanceStatus `json:"status"`
	MustUndo bool                    `json:"undo,omitempty"`
	// UndoOrder is what a person has chosen to undo in the instance while the process is paused; nil: all.
	UndoOrder *approval.UndoOrder `json:"undoOf,omitempty"`
	// CausedBy lists who ordered the undoing.
	CausedBy []policy.Identity `json:"causedBy,omitempty"`
}

// HoldInstanceSignal stops an instance and its delegates from starting anything new, or lets them resume.
type HoldInstanceSignal struct {
	IsHeld bool `json:"held"`
	// WantsReport is whether the process wants a report of what the instance has done until now.
	WantsReport bool   `json:"report,omitempty"`
	Reason      string `json:"reason,omitempty"`
	// ResumesDelegates resumes delegates that are paused, although the instance was not held.
	ResumesDelegates bool `json:"resume,omitempty"`
	// ResumeNumber counts how often the process has released the instance from a pause. It is set when a pause ends.
	ResumeNumber int `json:"releases,omitempty"`
	// Quota is what the instance may begin from now on; nil: its quota does not change.
	Quota *turn.Quota `json:"quota,omitempty"`
}

// SteerChildSignal pauses or resumes a part or a delegate, or raises its quota. Its parent sends it.
type SteerChildSignal struct {
	PauseOrResume string      `json:"steer,omitempty"` // pause or resume; empty: neither
	Reason        string      `json:"reason,omitempty"`
	Quota         *turn.Quota `json:"quota,omitempty"`
}

// CorrectInstanceSignal passes a person's correction to an instance: messages that come after all others.
type CorrectInstanceSignal struct {
	Context []any  `json:"context"`
	By      string `json:"by,omitempty"`
	policy.Account
	Reason string `json:"reason,omitempty"`
}
