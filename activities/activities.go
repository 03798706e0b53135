package activities

import (
	"cmp"
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"golang.org/x/sync/semaphore"

	"processidea/activities/notify"
	"processidea/internal/pause"
	"processidea/internal/safego"
	"processidea/llm"
	"processidea/model/ideafile/price"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/model/prompt"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/chain"
	"processidea/store/signing"
	"processidea/tools"
	"processidea/tools/mcptool"
	"processidea/tools/memory"
	"processidea/tools/runner"
)

// Activities are the shared dependencies of one worker's activities.
type Activities struct {
	Store *blobs.Store
	// Chains are the chains of the store; nil: Register makes them.
	Chains *chain.Store
	// Tools are the Go functions. Runners run Tools of every kind; the runner of ideafile.KindGo is Tools.
	Tools   *tools.Registry
	Runners *runner.Registry
	// MCP asks the MCP servers of an Idea for their tools.
	MCP *mcptool.Hub
	// DeciderKeys are the keys that sign decisions; nil: none, so that no signed decision counts.
	DeciderKeys *signing.KeySource
	// DefaultPrices of LLMs apply if an Idea has none.
	DefaultPrices price.List
	// LLM is asked unless an Idea is scripted; nil: no LLM.
	LLM *llm.Client
	// LLMClientByServer are the LLM servers by the names that Ideas give them.
	LLMClientByServer map[string]*llm.Client
	// LLMPatience is how long Requests are retried while an LLM's server is unavailable, unless the Idea sets it; 0:
	// DefaultLLMPatience.
	LLMPatience time.Duration
	// LLMRetryDelays are the pauses between the attempts.
	LLMRetryDelays llm.RetryPauses
	// NoticeSender notifies people of what waits for them; nil: no notifications.
	NoticeSender *notify.Sender
	// ListPendingApprovals lists the Calls that wait in a process, in the words of the business; nil: notices contain
	// ids only.
	ListPendingApprovals func(ctx context.Context, process string) ([]protocol.Approval, error)
	// DescribeDecidedCall describes a Call that no longer waits; it is set with ListPendingApprovals.
	DescribeDecidedCall func(ctx context.Context, processID, callID string) (shown.Call, error)
	// Client sends Calls to instances.
	Client client.Client
	// MaxResultBytes is the maximum size of a Tool's result in bytes; 0: 20 MB.
	MaxResultBytes int
	// MemoryBudget bounds the memory of all Calls and Requests together; nil: no bound.
	MemoryBudget *memory.Budget
	// RequestSlots bounds the Requests in flight; nil: no bound.
	RequestSlots *semaphore.Weighted
	// ReplyRecorder receives the LLM's replies; nil: none.
	ReplyRecorder ReplyRecorder
	// PromptRecorder receives the prompts before they are sent; nil: none.
	PromptRecorder PromptRecorder
	// DailyBudgetDollars bounds what the Requests of all processes and workers cost in a day, in dollars; 0: no bound.
	DailyBudgetDollars float64
	// MinimizesActions makes processes save actions that a hosted server bills, at the price of time.
	MinimizesActions bool
	// BatchesInstanceReports has instances of one process report together, which makes their workflow tasks wait for a
	// moment.
	BatchesInstanceReports bool
	// CountWorkers counts the workers that share the signals that a process takes.
	CountWorkers func(context.Context) (int, error)
	// Observer receives the outcomes of Requests and Calls; nil: none.
	Observer Observer
	// HoldUpRecorder records which processes wait for an LLM's server; nil: none.
	HoldUpRecorder HoldUpRecorder

	toolHoldUps, limitTurnHoldUps callHoldUps
	rateLimitTurns                rateLimitTurns
	reports                       reportBatcher

	objectCache *lru.Cache[string, map[string]any] // the stored objects read last; nil before Register
}

// ReplyRecorder receives the whole reply of the LLM to one Request of a process, once its stream has ended.
// turnNumber gives the order of replies, since a recheck may end after a later Request. An empty
// finishReason means that the reply broke off; with rehearsal.FinishReasonNoAnswer, content is why a recheck got no
// reply.
type ReplyRecorder func(process string, turnNumber int, content, finishReason, refusal string)

// PromptRecorder receives the prompt of each attempt at a Request of a process; request is the Request's number, from
// 1.
type PromptRecorder func(process string, request int, messages []prompt.Message)

const defaultMaxResultBytes = 20 << 20

// Register registers every activity under the name that workflows call.
func (a *Activities) Register(r worker.ActivityRegistry) {
	if a.Chains == nil {
		a.Chains = chain.New(a.Store)
	}
	a.objectCache, _ = lru.New[string, map[string]any](maxCachedObjects) // it fails only for a size below one
	for name, f := range a.activityByName() {
		r.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}

// activityByName are the activities by the names under which workflows call them.
func (a *Activities) activityByName() map[string]any {
	return map[string]any{
		protocol.ActivityDiscoverMCPTools: a.DiscoverMCPTools,
		protocol.ActivityNotifyPeople:     a.NotifyPeople,
		protocol.ActivityVerifyProof:      a.VerifyProof,
		protocol.ActivityLoadObject:       a.LoadObject,
		protocol.ActivityUpdateBlobs:      a.UpdateBlobs,
		protocol.ActivityPrepareProcess:   a.PrepareTools,
		protocol.ActivityRequestLLM:       a.SendRequest,
		protocol.ActivitySendLLMBatch:     a.SendLLMBatch,
		protocol.ActivityReadLLMBatch:     a.ReadLLMBatch,
		protocol.ActivityExecute:          a.ExecuteCall,
		protocol.ActivityExecuteBatch:     a.ExecuteBatch,
		protocol.ActivitySealIdea:         a.SealIdea,
		protocol.ActivityIsProcessGone:    a.IsProcessGone,
		protocol.ActivityDeliverSignals:   a.DeliverSignals,
		protocol.ActivityGatherParts:      a.GatherParts,

		protocol.ActivityAwaitStore:     a.ProbeStore,
		protocol.ActivityAwaitLimitTurn: a.AwaitTurn,
	}
}

// Names lists the names of all activities.
func Names() []string { return jsonval.SortedKeys(new(Activities).activityByName()) }

// lastHeartbeatDetails is what the attempt before recorded with its last heartbeat; zero if it recorded nothing of this
// type.
func lastHeartbeatDetails[T any](ctx context.Context) (details T) {
	if activity.HasHeartbeatDetails(ctx) {
		_ = activity.GetHeartbeatDetails(ctx, &details)
	}
	return details
}

// StartHeartbeats sends heartbeats until stop is called, so that the activity of a lost worker ends after the heartbeat
// timeout, however long it may take otherwise. The details are for the next attempt.
func StartHeartbeats(ctx context.Context, details ...any) (stop func()) {
	info := activity.GetInfo(ctx)
	if info.IsLocalActivity {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	safego.Go("activities.heartbeat", func() error {
		interval := protocol.HeartbeatInterval(cmp.Or(info.HeartbeatTimeout, protocol.HeartbeatTimeout))
		for pause.For(ctx, interval) == nil {
			activity.RecordHeartbeat(ctx, details...)
		}
		return nil
	}, func(err error) {
		safego.FailContext(ctx, err)
		close(done)
	})
	return func() { cancel(); <-done }
}
