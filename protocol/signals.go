package protocol

import (
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/turn"
)

// CallsSignal hands an instance Calls of one Request, in the order in which they closed in the stream.
type CallsSignal struct {
	Request int                  `json:"request"`
	Calls   []turn.DeliveredCall `json:"calls,omitempty"`
	Results []SentAnswer         `json:"results,omitempty"`
	// Last is whether nothing more of the Request comes.
	Last bool `json:"last,omitempty"`
	// Rest is whether the process sends it, after the Request broke off.
	Rest bool `json:"rest,omitempty"`
	// Review is whether it brings no new Calls, and a person must look at those that have not started, as their Why
	// says.
	Review bool `json:"review,omitempty"`
	// CausedBy is who has added or revised the instance before the Calls were planned.
	CausedBy []policy.Identity `json:"causedBy,omitempty"`
}

// SentAnswer is the result of a latent Call that was asked for by itself or, if Fitted, a Call's parameters as the LLM
// fitted them to the Tool's schema.
type SentAnswer struct {
	Call   string         `json:"call"`
	Output any            `json:"output"`
	Params map[string]any `json:"params,omitempty"`
	Fitted bool           `json:"fitted,omitempty"`
}

// CloseSignal closes a Request that broke off: the instance accepts no more Calls of it from its sender.
type CloseSignal struct {
	Request int `json:"request"`
	// RestComes is whether the process sends the rest, once it knows what every instance has accepted: until then the
	// Request is open.
	RestComes bool `json:"restComes,omitempty"`
	// TellCalls is whether the process wants to be told all Calls of the Request again, as they were written: it has
	// not got the reply.
	TellCalls bool `json:"tellCalls,omitempty"`
}

// RequestHeldUpSignal tells a process what a Request of it waits for; nil: nothing any more, it goes on.
type RequestHeldUpSignal struct {
	Request int          `json:"request"`
	HeldUp  *turn.HeldUp `json:"heldUp,omitempty"`
}

// WorkerHoldUpSignal tells a process what a cause is about; nil: it is gone.
type WorkerHoldUpSignal struct {
	Cause  string       `json:"cause"`
	HeldUp *turn.HeldUp `json:"heldUp,omitempty"`
	// Worker is who tells of its own Calls alone, and withdraws nobody else's; empty: the cause is the same for all.
	Worker string `json:"worker,omitempty"`
}

// EndSignal ends an instance with a status, or has it take back first what it did.
type EndSignal struct {
	Status ideafile.InstanceStatus `json:"status"`
	Undo   bool                    `json:"undo,omitempty"`
	// UndoOf is what of it a person has taken back, while the process is paused; nil: all.
	UndoOf *approval.UndoOrder `json:"undoOf,omitempty"`
	// CausedBy is who has it taken back.
	CausedBy []policy.Identity `json:"causedBy,omitempty"`
}

// HoldSignal makes an instance start nothing new, or lets it go on, and its delegates with it.
type HoldSignal struct {
	Held bool `json:"held"`
	// Report is whether the process wants to hear what the instance has done until now.
	Report bool   `json:"report,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Resume lets the delegates go on that are paused, although the instance was not held.
	Resume bool `json:"resume,omitempty"`
	// ReleaseNumber counts, where a pause ends, how often the process has let the instance go on.
	ReleaseNumber int `json:"releases,omitempty"`
	// Quota is what it may begin from now on; nil: what it was told before.
	Quota *turn.Quota `json:"quota,omitempty"`
}

// SteerChildSignal pauses a part or a delegate, lets it go on, or allows it more. The process that it works for sends
// it.
type SteerChildSignal struct {
	Steer  string      `json:"steer,omitempty"` // pause or resume; empty: neither
	Reason string      `json:"reason,omitempty"`
	Quota  *turn.Quota `json:"quota,omitempty"`
}

// CorrectionSignal brings a person's correction to an instance: messages that come after all others.
type CorrectionSignal struct {
	Context []any  `json:"context"`
	By      string `json:"by,omitempty"`
	policy.Account
	Reason string `json:"reason,omitempty"`
}
