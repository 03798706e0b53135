package protocol

import "processidea/model/ideafile"

// CallsSignal is a burst of Calls of one Request, in the order in which they closed.
type CallsSignal struct {
	Request int         `json:"request"`
	Calls   []SentCall  `json:"calls,omitempty"`
	Results []SentValue `json:"results,omitempty"`
	// Last says that nothing more of the Request comes.
	Last bool `json:"last,omitempty"`
}

// SentCall is a Call as written, with its index from 1.
type SentCall struct {
	Index int                  `json:"index"`
	Call  ideafile.WrittenCall `json:"call"`
	// Why a person must look at it, whatever its Tool's policy says: it comes from the process of another chain.
	Why string `json:"why,omitempty"`
}

// SentValue is the result of a latent Call that was asked for by itself, or, where Params is given, what the LLM fitted of
// a Call's parameters.
type SentValue struct {
	Call   string         `json:"call"`
	Output any            `json:"output"`
	Params map[string]any `json:"params,omitempty"`
	Fitted bool           `json:"fitted,omitempty"`
}

// CloseSignal ends a Request that broke off.
type CloseSignal struct {
	Request int `json:"request"`
}

// EndSignal ends an instance.
type EndSignal struct {
	Status ideafile.InstanceStatus `json:"status"`
}

// HoldSignal keeps an instance from starting anything new, or lets it go on.
type HoldSignal struct {
	Held bool `json:"held"`
}

// CorrectSignal brings a person's correction to an instance: messages that come after all others.
type CorrectSignal struct {
	Context []any  `json:"context"`
	By      string `json:"by,omitempty"`
	Reason  string `json:"reason,omitempty"`
}
