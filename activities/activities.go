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
	"processidea/internal/safego"
	"processidea/llm"
	"processidea/model/ideafile/price"
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

// Activities is what the activities of one worker share.
type Activities struct {
	Store *blobs.Store
	// Chains are those of the store; nil: Register makes them.
	Chains *chain.Store
	// Tools are the Go functions. Runners run Tools of every kind; that of ideafile.KindGo is Tools.
	Tools   *tools.Registry
	Runners *runner.Registry
	// MCP asks the MCP servers of an Idea what they offer.
	MCP *mcptool.Hub
	// MCPPatience bounds that; 0: protocol.DiscoverPatience.
	MCPPatience time.Duration
	// Deciders are the keys that decisions are signed with; nil: there are none, and no signed decision counts.
	Deciders *signing.Source
	// Prices of LLMs count where an Idea names none.
	Prices price.List
	// LLM is asked where an Idea is not scripted; nil: nobody is.
	LLM *llm.Client
	// LLMServers are asked where an Idea names one of them.
	LLMServers map[string]*llm.Client
	// LLMPatience is how long Requests are made again while an LLM's server is away, where an Idea does not say; 0:
	// DefaultLLMPatience.
	LLMPatience time.Duration
	// LLMPauses are those between the attempts.
	LLMPauses llm.Pauses
	// Notices tells people what waits for them; nil: nobody does.
	Notices *notify.Sender
	// Waiting lists the Calls that wait in a process, in the words of the business; nil: notices tell ids alone.
	Waiting func(ctx context.Context, process string) ([]protocol.Approval, error)
	// Client hands Calls on to instances.
	Client client.Client
	// MaxResult is the size in bytes over which a Tool's result is an error; 0 means 20 MB.
	MaxResult int
	// Memory is what Calls and Requests may hold in memory together; nil: there is no bound.
	Memory *memory.Budget
	// RequestSlots bounds the Requests that may be under way at once; nil: any number.
	RequestSlots *semaphore.Weighted
	// Recorder is told what the LLM said; nil: nobody is.
	Recorder ReplyRecorder
	// Asked is told what the LLM is about to be asked; nil: nobody is.
	Asked PromptRecorder
	// MoneyADay is what Requests of all processes and workers may cost in a day, in dollars; 0: any amount.
	MoneyADay float64
	// SaveActions is whether processes save what a hosted server bills, at the price of time.
	SaveActions bool
	// Observer is told what Requests and Calls came to; nil: nobody is.
	Observer Observer
	// HoldUps notes which processes wait for an LLM's server; nil: nobody does.
	HoldUps HoldUps

	toolWaits, turnWaits toolWaits
	turns                turns

	objects *lru.Cache[string, map[string]any] // those that were read last; nil before Register
}

// ReplyRecorder takes all that the LLM said in one Request of a process, once its stream has ended. An empty finish
// reason means that it broke off.
type ReplyRecorder func(process, content, finishReason, refusal string)

// PromptRecorder takes what the LLM is asked in a Request of a process, by its number from 1, at each attempt.
type PromptRecorder func(process string, request int, messages []prompt.Message)

const defaultMaxResult = 20 << 20

// Register registers every activity under the name that workflows call.
func (a *Activities) Register(r worker.ActivityRegistry) {
	if a.Chains == nil {
		a.Chains = chain.New(a.Store)
	}
	a.objects, _ = lru.New[string, map[string]any](keptObjects) // it fails for a size below one alone
	for name, f := range map[string]any{
		protocol.ActivityDiscover:    a.DiscoverMCPTools,
		protocol.ActivityNotify:      a.NotifyPeople,
		protocol.ActivityVerifyProof: a.VerifyProof,
		protocol.ActivityLoad:        a.LoadObject,
		protocol.ActivityCombine:     a.CombineBlobs,
		protocol.ActivityPrepare:     a.PrepareTools,
		protocol.ActivityRequest:     a.SendRequest,
		protocol.ActivitySendBatch:   a.SendBatch,
		protocol.ActivityReadBatch:   a.ReadBatch,
		protocol.ActivityExecute:     a.ExecuteCall,
		protocol.ActivityBurst:       a.ExecuteBatch,
		protocol.ActivitySeal:        a.SealIdea,
		protocol.ActivityGone:        a.IsProcessGone,
		protocol.ActivityDeliver:     a.DeliverSignals,
		protocol.ActivityGather:      a.GatherParts,

		protocol.ActivityAwaitStore: a.ProbeStore,
		protocol.ActivityAwaitTurn:  a.AwaitTurn,
	} {
		r.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}

// Heartbeat reports until stop is called that the worker lives: an activity of a worker that was lost then ends after
// the heartbeat timeout, however long it may take otherwise.
func Heartbeat(ctx context.Context) (stop func()) {
	info := activity.GetInfo(ctx)
	if info.IsLocalActivity {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	safego.Go("activities.heartbeat", func() error {
		t := time.NewTicker(protocol.HeartbeatInterval(cmp.Or(info.HeartbeatTimeout, protocol.HeartbeatTimeout)))
		defer t.Stop()
		for {
			select {
			case <-t.C:
				activity.RecordHeartbeat(ctx)
			case <-ctx.Done():
				return nil
			}
		}
	}, func(err error) {
		safego.Fail(ctx, err)
		close(done)
	})
	return func() { cancel(); <-done }
}
