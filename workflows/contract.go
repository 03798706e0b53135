// Package workflows carries a process out on Temporal: Process is the mind, which asks the LLM and decides whether to go
// on; Instance is the hands, which own one State and run its Calls. Every decision is taken in package model; here it is
// put into commands, signals and activities.
package workflows

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"processidea/model"
)

// Names that stand in histories and in other people's scripts. They are never changed.
const (
	TaskQueue = "process-idea"

	ProcessType  = "Process"
	InstanceType = "Instance"

	ActivityPrepare = "Prepare"
	ActivityRequest = "Request"
	ActivityExecute = "Execute"
	ActivityBurst   = "Burst"
	ActivitySeal    = "Seal"
	ActivityGone    = "Gone"
	ActivityDeliver = "Deliver"
	ActivityGather  = "Gather"
	// ActivityDiscover asks MCP servers for their tools.
	ActivityDiscover = "Discover"
	// ActivityNotify tells people what waits for them.
	ActivityNotify = "Notify"

	// SignalCalls hands Calls of a Request to an instance (CallsSignal). The Request activity sends it.
	SignalCalls = "calls"
	// SignalClose ends a Request at an instance (CloseSignal). The process sends it.
	SignalClose = "close"
	// SignalEnd ends an instance (EndSignal). The process sends it.
	SignalEnd = "end"
	// SignalReport tells a process what became of an instance's Calls (model.Report). The instance sends it.
	SignalReport = "report"
	// SignalPart tells a process what a part of it has come to (model.PartReport). The part sends it.
	SignalPart = "part"
	// SignalDelegate tells an instance what the delegate of a Call has come to (DelegateReport). The delegate sends it.
	SignalDelegate = "delegate"
	// SignalHold keeps an instance from starting anything new, and lets it go on (HoldSignal). The process sends it.
	SignalHold = "hold"
	// SignalCorrect brings a person's correction to an instance (CorrectSignal). The process sends it.
	SignalCorrect = "correct"

	QueryStatus    = "status"
	QueryIdea      = "idea"
	QueryApprovals = "approvals"

	// MemoPath, MemoVersion and MemoFile describe a process: its Idea's path and version, and the digest of the file.
	MemoPath    = "path"
	MemoVersion = "version"
	MemoFile    = "file"

	// The search attributes, where they are registered.
	AttributeStatus   = "IdeaStatus"
	AttributeAwaiting = "IdeaAwaiting"
	AttributePath     = "IdeaPath"
)

// InstanceID gives the workflow id of an instance.
func InstanceID(process, token string) string {
	if token == "" {
		token = "main"
	} else {
		token = strings.NewReplacer("%", "%25", "/", "%2F", " ", "%20").Replace(token)
	}
	return process + "/" + token
}

// IdempotencyKey gives the key under which a Call's effect is known outside, the same on every attempt:
// <process>/<token>/<call id>, each part percent-encoded.
func IdempotencyKey(process, token, call string) string {
	if token == "" {
		token = "main"
	}
	return url.PathEscape(process) + "/" + url.PathEscape(token) + "/" + url.PathEscape(call)
}

// Start is what a process starts from. It is self-contained: no worker needs the files it was made of.
type Start struct {
	// Idea is the Idea file's content, with large values in the store.
	Idea map[string]any `json:"idea"`
	// Replies is a scripted LLM in the form of a replies file; empty where a real one is asked.
	Replies string `json:"replies,omitempty"`
	// Attributes says that the search attributes are registered.
	Attributes bool `json:"attributes,omitempty"`
	// ContinueEvery is after how many passes through its loop a workflow continues as new; 0: when Temporal suggests it.
	// For tests.
	ContinueEvery int `json:"continueEvery,omitempty"`
	// Part says which part of which process this one is; nil: it is one by itself.
	Part *PartOf `json:"part,omitempty"`
	// WithSolution takes up the Calls of the Idea's solution, minus those that its record calls done.
	WithSolution bool `json:"withSolution,omitempty"`
	// Delegation is what it knows of delegates, and whether it is one.
	Delegation Delegation `json:"delegation,omitzero"`
}

// PartOf names a part of a process.
type PartOf struct {
	Number int        `json:"number"` // from 1
	Of     ProcessRef `json:"of"`
}

// PartID gives the workflow id of a part of a process.
func PartID(process string, number int) string { return fmt.Sprintf("%s/~part/%d", process, number) }

// GatherInput is what a process that was split ends with.
type GatherInput struct {
	Process string `json:"process"`
	// Idea is the Idea file's content, with every correction.
	Idea map[string]any `json:"idea"`
	// Parts are the latest Ideas of the parts.
	Parts []GatherPart `json:"parts"`
	// Parent is the digest of the process's Idea before; At is the number of the one to be made.
	Parent string `json:"parent,omitempty"`
	At     int    `json:"at"`
	Output any    `json:"output"`
}

// GatherPart is the latest Idea of a part.
type GatherPart struct {
	Process string   `json:"process"`
	Last    Sealed   `json:"last"`
	Tokens  []string `json:"tokens"`
	// Statuses say where each instance stands.
	Statuses map[string]model.InstanceStatus `json:"statuses"`
}

// Gathered is what Gather found and sealed.
type Gathered struct {
	States map[string]any `json:"states"` // by token
	Last   Sealed         `json:"last"`
}

// PrepareResult is what a process's Tools were bound to.
type PrepareResult struct {
	Bindings map[string]model.Binding `json:"bindings"`
	// Notify says that the worker knows whom to tell what waits for people.
	Notify bool `json:"notify,omitempty"`
	// LLM says that the worker knows an LLM to ask.
	LLM bool `json:"llm,omitempty"`
	// Problems are Tools that cannot be bound.
	Problems model.Problems `json:"problems,omitempty"`
}

// RequestSetup is what all Requests of a process share.
type RequestSetup struct {
	Idea     map[string]any           `json:"idea"`
	Bindings map[string]model.Binding `json:"bindings"`
	Replies  string                   `json:"replies,omitempty"`
}

// RequestStates says where the States are that a Request is about, which its Brief leaves out.
type RequestStates struct {
	// Base is the Idea of the chain from which they grew; At 0: the Idea in the RequestSetup.
	Base Sealed `json:"base"`
	// Changes is what each differs in from its State there, by token, as model.Delta gives it.
	Changes map[string]any `json:"changes,omitempty"`
}

// ExecuteInput is one Call, ready to run.
type ExecuteInput struct {
	Process string         `json:"process"`
	Token   string         `json:"token"`
	Call    string         `json:"call"`
	Tool    string         `json:"tool"`
	Binding model.Binding  `json:"binding"`
	Params  map[string]any `json:"params"`
	Scopes  map[string]any `json:"scopes,omitempty"`
	// HTTP is the request of an HTTP tool.
	HTTP any `json:"http,omitempty"`
	// MCP is the server's tool that an MCP tool stands for, and Server what the Idea says of that server.
	MCP    *model.MCPTool   `json:"mcp,omitempty"`
	Server *model.MCPServer `json:"server,omitempty"`
	// Form is the Tool's parameter schema, given where Params hold large values that only the activity sees whole.
	Form any `json:"form,omitempty"`
	// Output and Landing are what the result must fit.
	Output  any            `json:"output,omitempty"`
	Landing *model.Landing `json:"landing,omitempty"`
}

// SealInput is one Idea of the chain, before it has a digest.
type SealInput struct {
	Process string
	At      int
	Parent  string
	Idea    map[string]any
	Brief   *model.Brief
	Calls   []any
	Output  any
	// Request is the number of the Request that seals it; 0 where none does.
	Request int `json:",omitempty"`
	// Log is what changed the instances since the parent.
	Log []model.LogEntry `json:",omitempty"`
}

// Sealed is one Idea of the chain: number, digest and place in the store.
type Sealed struct {
	At     int    `json:"at"`
	Digest string `json:"digest"`
	Place  string `json:"place"`
}

// InstanceSetup is what all instances of a process share.
type InstanceSetup struct {
	Process string `json:"process"`
	// FirstRunID is the process's first run: its id beyond continue-as-new.
	FirstRunID string                   `json:"firstRunId"`
	Tools      map[string]any           `json:"tools"`
	Context    []any                    `json:"context,omitempty"`
	Bindings   map[string]model.Binding `json:"bindings"`
	Oversight  model.Oversight          `json:"oversight,omitzero"`
	// Adapt says that the LLM may be asked to fit values to the Tools' schemas.
	Adapt bool `json:"adapt,omitempty"`
	// Attributes says that the search attributes are registered.
	Attributes bool `json:"attributes,omitempty"`
	// Whole is the process that Process is a part of; nil: it is one by itself.
	Whole *ProcessRef `json:"whole,omitempty"`
	// ContinueEvery is that of the process's Start.
	ContinueEvery int `json:"continueEvery,omitempty"`
	// Servers are the MCP servers of the Idea.
	Servers []model.MCPServer `json:"servers,omitempty"`
	// Held says that the process is paused: nothing starts until it goes on.
	Held bool `json:"held,omitempty"`
	// Delegation, LLM and Replies are what the delegates of Calls begin with.
	Delegation Delegation `json:"delegation,omitzero"`
	LLM        any        `json:"llm,omitempty"`
	Replies    string     `json:"replies,omitempty"`
}

// InstanceOwn is what one instance has for itself.
type InstanceOwn struct {
	Token   string `json:"token"`
	Context []any  `json:"context,omitempty"`
}

// InstanceResult is what an instance ends with.
type InstanceResult struct {
	Status model.InstanceStatus `json:"status"`
	State  any                  `json:"state"`
}

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
	Index int `json:"index"`
	Call  any `json:"call"`
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
	Status model.InstanceStatus `json:"status"`
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

// Inline marks answers to queries: they stay in the answer whatever their size, since people without our store read
// them.
type Inline interface{ inline() }

// ProcessView answers the query "status" of a process: as `run --json` without States, and what it waits for.
type ProcessView struct {
	model.Result
	// Waiting says, for people, what the process waits for.
	Waiting []string `json:"waiting"`
	// Awaiting counts the Calls that wait for a person.
	Awaiting int `json:"awaiting"`
	// Refusals are the last hundred signals that changed nothing, Refused counts them all.
	Refusals []model.Refusal `json:"refusals"`
	Refused  int             `json:"refused"`
	// Accepted are the last hundred signals by which people steered the process.
	Accepted []Accepted `json:"accepted"`
	// Parts are those of a process that is split: their instances are <process of the part>/<token>.
	Parts []PartView `json:"parts,omitempty"`
}

// PartView is one part of a process that is split.
type PartView struct {
	Process   string              `json:"process"`
	Status    model.ProcessStatus `json:"status"` // empty: it has not begun
	Instances []string            `json:"instances"`
}

// InstanceID gives the workflow id of an instance, which of a split process is that of its part.
func (v ProcessView) InstanceID(token string) string {
	for _, part := range v.Parts {
		if slices.Contains(part.Instances, token) {
			return InstanceID(part.Process, token)
		}
	}
	return InstanceID(v.Process, token)
}

// Accepted is a signal by which somebody steered the process, once it has taken effect.
type Accepted struct {
	ID     string    `json:"id,omitempty"` // as the signal gave it
	Signal string    `json:"signal"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

func (ProcessView) inline() {}

// ApprovalsView answers the query "approvals" of an instance.
type ApprovalsView struct {
	Approvals []model.Pending `json:"approvals"`
}

func (ApprovalsView) inline() {}

// Approval is a pending approval of a process, with its instance.
type Approval struct {
	Process  string `json:"process"`
	Instance string `json:"instance"`
	model.Pending
}

// ProcessApprovals answers the query "approvals" of a process.
type ProcessApprovals struct {
	Approvals []Approval `json:"approvals"`
}

func (ProcessApprovals) inline() {}

// InstanceView answers the query "status" of an instance.
type InstanceView struct {
	State any        `json:"state"`
	Calls []CallView `json:"calls"`
	// Refusals are the last hundred signals that changed nothing, Refused counts them all.
	Refusals []model.Refusal `json:"refusals"`
	Refused  int             `json:"refused"`
}

func (InstanceView) inline() {}

// CallView is one Call in an InstanceView.
type CallView struct {
	ID     string       `json:"id"`
	Tool   string       `json:"tool"`
	Status model.Status `json:"status"`
	// OutputPath is a plain path, or the text of an expression; null where there is none.
	OutputPath model.OutputPath `json:"outputPath"`
	// By names who decided on the Call last, or who wrote the path of a skipped one.
	By string `json:"by,omitempty"`
	// Untaken is the branch that a skipped Call would have read; By names the Call that did not take it.
	Untaken string       `json:"untaken,omitempty"`
	Error   *model.Fault `json:"error,omitempty"`
	// Decisions are those that people took, each with the digest of what was decided on.
	Decisions []model.Decision `json:"decisions,omitempty"`
}
