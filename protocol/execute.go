package protocol

import (
	"time"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/limit"
	"processidea/model/statelog"
)

// ExecuteInput is one Call, ready to run.
type ExecuteInput struct {
	ProcessID     string               `json:"process"`
	InstanceToken string               `json:"token"`
	CallID        string               `json:"call"`
	Tool          string               `json:"tool"`
	Binding       ideafile.ToolBinding `json:"binding"`
	Params        map[string]any       `json:"params"`
	ScopeValues   map[string]any       `json:"scopes,omitempty"`
	// RateLimit is the Tool's rate limit, which all workers share; nil: the Tool has none.
	RateLimit *limit.Rule `json:"rate,omitempty"`
	// UndoneCall is the Call that this one undoes; nil: it undoes no Call.
	UndoneCall *ideafile.UndoneCall `json:"undoes,omitempty"`
	// RunnerSpec is the Tool's specification for the runner of the Binding's kind, as ideafile.Tool.RunnerSpec returns
	// it.
	RunnerSpec any `json:"spec,omitempty"`
	// ParamsSchema is the Tool's parameter schema. It is set if Params hold large values that only the activity can
	// load.
	ParamsSchema any `json:"form,omitempty"`
	// OutputSchema and ResultContract are what the result must fit.
	OutputSchema   any                      `json:"output,omitempty"`
	ResultContract *statelog.ResultContract `json:"landing,omitempty"`
	// IsResultForWholeState is whether the result is for the whole State: it stays an object, however many keys it has.
	IsResultForWholeState bool `json:"wholeState,omitempty"`
	// LostWorkerCount counts the workers that were lost while the Tool ran. After each loss the Tool runs as a new
	// activity.
	LostWorkerCount int `json:"lost,omitempty"`
	// RefusalWaitCount counts how often the Call has waited because the Tool's server refused it unread.
	RefusalWaitCount int `json:"waits,omitempty"`
}

// IdempotencyKey returns the key under which the outside world knows the Call's effect. For a Call that undoes another
// it is the other Call's key with the suffix /undo, whichever process asks.
func (in ExecuteInput) IdempotencyKey() string {
	if in.UndoneCall == nil {
		return IdempotencyKey(in.ProcessID, in.InstanceToken, in.CallID)
	}
	return UndoKey(in.UndoneCall.ProcessID, ideafile.InstanceTokenOfCallID(in.UndoneCall.CallID), in.UndoneCall.CallID)
}

// BlobUpdateInput is an update of values in the store: what a Call's result changes at each of its paths. The activity
// returns the updated values in the same order.
type BlobUpdateInput struct {
	OutputMethod   string                   `json:"method"`
	Updates        []statelog.Update        `json:"updates"`
	ResultContract *statelog.ResultContract `json:"landing,omitempty"`
}

// VerifyProofInput is the proof of a decision, a compact JWS. The activity returns a proof.Verification.
type VerifyProofInput struct {
	JWS string `json:"jws"`
}

// BatchCall is one Call of a burst: pure Calls that run together in one activity. Timeout is its Tool's timeout.
type BatchCall struct {
	ExecuteInput
	Timeout time.Duration `json:"timeout"`
}

// BatchCallResult is the result of one Call of a burst.
type BatchCallResult struct {
	Value any `json:"value,omitempty"`
	// Fault is why the Call failed.
	Fault *diag.Fault `json:"fault,omitempty"`
	// IsRetryable is whether the Call may be tried again. Without a Fault the Call was not tried at all.
	IsRetryable bool `json:"again,omitempty"`
}

// NewBatchCallResult makes the result of a Call from what its Tool returned.
func NewBatchCallResult(value any, err error) BatchCallResult {
	if err == nil {
		return BatchCallResult{Value: value}
	}
	return BatchCallResult{Fault: FaultOf(err), IsRetryable: isRetryable(err)}
}
