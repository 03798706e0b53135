// Package activities does what workflows may not: it speaks with the LLM, runs Tools, and writes to the store.
package activities

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"golang.org/x/sync/semaphore"

	"processidea/activities/httptool"
	"processidea/activities/mcptool"
	"processidea/activities/notify"
	"processidea/activities/tools"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/chain"
)

// Activities holds what the activities of one worker share.
type Activities struct {
	Store *blobs.Store
	// Chains are those of the store; nil: Register makes them.
	Chains *chain.Store
	Tools  *tools.Registry
	HTTP   *httptool.Client
	// MCP holds the sessions with MCP servers; nil: Register makes one without any.
	MCP *mcptool.Hub
	LLM LLM
	// Notices tells people what waits for them; nil: nobody does.
	Notices *notify.Sender
	// Client hands Calls on to instances.
	Client client.Client
	// MaxResult is the size in bytes over which a Tool's result is an error; 0 means 20 MB.
	MaxResult int
	// Turns are the Requests that may be under way at once; nil: any number.
	Turns *semaphore.Weighted
	// Heard is told what the LLM said; nil: nobody listens.
	Heard Heard
	// Observer is told what Requests and Calls came to; nil: nobody is.
	Observer Observer
	Log      *slog.Logger

	maxSilence time.Duration // 0: a minute
	pacing     sync.Once
	pace       *pace
	paceErr    error
}

// Heard takes all that the LLM said in one Request of a process, once its stream has ended. An empty finish reason means
// that it broke off.
type Heard func(process, content, finishReason, refusal string)

const defaultMaxResult = 20 << 20

// Register registers every activity under the name that workflows call.
func (a *Activities) Register(r worker.ActivityRegistry) {
	if a.Chains == nil {
		a.Chains = chain.New(a.Store)
	}
	if a.MCP == nil { // one that may speak to no server
		a.MCP = mcptool.New(mcptool.Options{})
	}
	for name, f := range map[string]any{
		protocol.ActivityDiscover: a.Discover,
		protocol.ActivityNotify:   a.Notify,
		protocol.ActivityPrepare:  a.Prepare,
		protocol.ActivityRequest:  a.Request,
		protocol.ActivityExecute:  a.Execute,
		protocol.ActivityBurst:    a.Burst,
		protocol.ActivitySeal:     a.Seal,
		protocol.ActivityGone:     a.Gone,
		protocol.ActivityDeliver:  a.Deliver,
		protocol.ActivityGather:   a.Gather,
	} {
		r.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}

const beat = time.Second

// heartbeat tells the server that the worker lives, until stop is called: when it does not any more, the activity is
// lost after the heartbeat timeout, however long it may take otherwise.
func heartbeat(ctx context.Context) (stop func()) {
	if activity.GetInfo(ctx).IsLocalActivity {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(beat)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				activity.RecordHeartbeat(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}
