package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"golang.org/x/sync/semaphore"

	"processidea/activities"
	processes "processidea/client"
	"processidea/connect"
	"processidea/internal/heap"
	"processidea/llm"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/tools/kinds"
	"processidea/tools/memory"
	"processidea/workflows"
)

// Limits bound what one worker does at a time; 0: the SDK's default, or no limit if it has none.
type Limits struct {
	ConcurrentRequests      int     // to LLMs
	ConcurrentCalls         int     // as activities
	ConcurrentPureCalls     int     // as local activities; a burst of them counts as one
	EagerCallsPerTask       int     // of one workflow task, run by the same worker
	CallsPerSecond          float64 // Calls that begin, and as many Requests, over all workers
	MaxDollarsPerDay        float64 // dollars that Requests cost, over all workers
	MaxResultBytes          int     // bytes of one Call's result
	MaxMemoryBytes          int64   // bytes that Calls and Requests hold together, about; 0: memory.DefaultBudgetBytes
	ConcurrentWorkflowTasks int     // at least 2
	WorkflowPollers         int     // at least 2
	ActivityPollers         int
	// HeartbeatTimeout is the time without a heartbeat after which the worker's activities count as lost; 0:
	// protocol.HeartbeatTimeout, which is the minimum.
	HeartbeatTimeout time.Duration
	// LLMPatience is how long Requests are retried while an LLM's server is unavailable, unless the Idea sets it; 0:
	// activities.DefaultLLMPatience. LLMMaxPause is the longest pause between two attempts; 0:
	// llm.DefaultMaxRetryPause.
	LLMPatience, LLMMaxPause time.Duration
	// MinimizesActions makes processes that begin here save actions that a hosted server bills, at the price of some
	// milliseconds.
	MinimizesActions bool
}

// EmbeddedLimits are the limits of a worker that runs in the same program as Temporal: no other worker would take the
// Calls that its workflows start, so all of them come with the answer to the workflow task that started them.
var EmbeddedLimits = Limits{EagerCallsPerTask: workflows.MaxRunningCalls, MaxMemoryBytes: 256 << 20}

// MemoryVariable names in the environment how many bytes Calls and Requests may hold together, for a worker that has no
// flags.
const MemoryVariable = "PROCESSIDEA_MAX_MEMORY_BYTES"

// LLMPatienceVariable and LLMMaxPauseVariable name in the environment Limits.LLMPatience and Limits.LLMMaxPause, for a
// worker that has no flags.
const (
	LLMPatienceVariable = "PROCESSIDEA_LLM_PATIENCE"
	LLMMaxPauseVariable = "PROCESSIDEA_LLM_PAUSE"
)

// MinLLMPatience and MinLLMMaxPause are the minima of Limits.LLMPatience and Limits.LLMMaxPause.
const (
	MinLLMPatience = time.Second
	MinLLMMaxPause = 10 * time.Millisecond
)

// EmbeddedLimitsFromEnv returns the limits of a worker in the same program as Temporal, adjusted by the environment.
func EmbeddedLimitsFromEnv(getenv func(string) string) (_ Limits, err error) {
	l := EmbeddedLimits
	memoryLimit, errs := heap.BytesFromEnv(getenv, MemoryVariable)
	l.MaxMemoryBytes = cmp.Or(memoryLimit, l.MaxMemoryBytes)
	for _, v := range []struct {
		name  string
		into  *time.Duration
		least time.Duration
	}{{LLMPatienceVariable, &l.LLMPatience, MinLLMPatience}, {LLMMaxPauseVariable, &l.LLMMaxPause, MinLLMMaxPause}} {
		text := getenv(v.name)
		if text == "" {
			continue
		}
		if *v.into, err = jsonval.ParseDuration(text); err == nil && *v.into < v.least {
			err = fmt.Errorf("%q: want %s at least", text, v.least)
		}
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("engine: read %s: %w", v.name, err))
		}
	}
	return l, errs
}

// activitySlots is the number of slots that Requests and Calls share. It is the sum of both limits, so that neither can
// take all slots from the other.
func (l Limits) activitySlots() int {
	if l.ConcurrentCalls == 0 {
		return 0
	}
	return l.ConcurrentCalls + l.ConcurrentRequests
}

// hasManySlots reports whether a workflow task, and a local activity of it, may wait for up to two seconds without
// keeping others waiting.
func (l Limits) hasManySlots() bool {
	isMany := func(n int) bool { return n == 0 || n >= 500 }
	return isMany(l.ConcurrentPureCalls) && isMany(l.ConcurrentWorkflowTasks)
}

func (p Dependencies) workerOptions() worker.Options {
	heartbeatTimeout := cmp.Or(p.Limits.HeartbeatTimeout, protocol.HeartbeatTimeout)
	o := worker.Options{
		// If no heartbeat reaches the server for HeartbeatTimeout, the SDK cancels the activity: a slow server has that
		// much time.
		MaxHeartbeatThrottleInterval:     protocol.HeartbeatInterval(heartbeatTimeout),
		DefaultHeartbeatThrottleInterval: protocol.HeartbeatInterval(heartbeatTimeout),
		// Workflow code here takes milliseconds; a machine that does other things too may stop it for longer.
		DeadlockDetectionTimeout:                3 * time.Second,
		WorkerStopTimeout:                       p.StopTimeout,
		MaxConcurrentActivityExecutionSize:      p.Limits.activitySlots(),
		MaxConcurrentLocalActivityExecutionSize: p.Limits.ConcurrentPureCalls,
		MaxConcurrentWorkflowTaskExecutionSize:  p.Limits.ConcurrentWorkflowTasks,
		MaxConcurrentWorkflowTaskPollers:        p.Limits.WorkflowPollers,
		MaxConcurrentActivityTaskPollers:        p.Limits.ActivityPollers,
		// The server holds back tasks above the rate. If the worker held them back, they would miss their heartbeats,
		// and count as lost.
		TaskQueueActivitiesPerSecond: p.Limits.CallsPerSecond,
		Interceptors: append(append(workflows.Interceptors(heartbeatTimeout), activities.NewPanicInterceptor()),
			p.Interceptors...),
		DeploymentOptions: deploymentOptions(p.Version),
	}
	if p.Limits.EagerCallsPerTask > 0 {
		o.MaxEagerActivityReservationsPerWorkflowTask = &p.Limits.EagerCallsPerTask
	}
	return o
}

// requestWorkerOptions are the options of the task queue of Requests. The server dispatches as many Requests as
// OPENAI_RPM says, over all workers. If one attempt sends several HTTP requests, the LLM's client delays the further
// ones.
func (p Dependencies) requestWorkerOptions(o worker.Options) worker.Options {
	o.DisableWorkflowWorker = true
	o.MaxConcurrentActivityExecutionSize, o.MaxConcurrentActivityTaskPollers = p.Limits.ConcurrentRequests, 0
	requestsPerMinute, _ := strconv.ParseFloat(p.LLM.RPM, 64) // Check has returned its errors
	if callsPerSecond := o.TaskQueueActivitiesPerSecond; requestsPerMinute > 0 &&
		(callsPerSecond == 0 || requestsPerMinute/60 < callsPerSecond) {
		o.TaskQueueActivitiesPerSecond = requestsPerMinute / 60
	}
	return o
}

func (p Dependencies) newActivities(c client.Client) (*activities.Activities, error) {
	a := &activities.Activities{}
	// The rate of the task queue limits the Requests a minute of this LLM, so only its tokens share a limit.
	p.LLM.MaxRetryPause, p.LLM.SharedTokenLimit = p.Limits.LLMMaxPause, a.SharedRate("_tokens/")
	llmClient, err := llm.New(p.LLM)
	if err != nil {
		return nil, err
	}
	llmClientByServer, err := newLLMClients(p.LLMConfigByServer, p.Limits.LLMMaxPause, a.SharedRate)
	if err != nil {
		return nil, err
	}
	runners := kinds.NewRunnerRegistry(kinds.Deps{Tools: p.Tools, HTTP: p.HTTP, MCP: p.MCP})
	for kind, r := range p.Runners {
		runners.Register(kind, r)
	}
	*a = activities.Activities{
		Store: p.Store, Tools: p.Tools, Runners: runners, MCP: p.MCP, NoticeSender: p.NoticeSender,
		DeciderKeys: p.DeciderKeys,
		LLM:         llmClient, Client: c, ReplyRecorder: p.ReplyRecorder,
		LLMPatience: p.Limits.LLMPatience, LLMRetryDelays: llm.RetryPauses{Max: p.Limits.LLMMaxPause},
		LLMClientByServer: llmClientByServer, DefaultPrices: p.DefaultPrices, PromptRecorder: p.PromptRecorder,
		Observer:         p.Observer,
		MaxResultBytes:   p.Limits.MaxResultBytes,
		MinimizesActions: p.Limits.MinimizesActions, BatchesInstanceReports: p.Limits.hasManySlots(),
		CountWorkers:       func(ctx context.Context) (int, error) { return connect.CountWorkers(ctx, c) },
		DailyBudgetDollars: p.Limits.MaxDollarsPerDay,
		MemoryBudget:       memory.NewBudget(cmp.Or(p.Limits.MaxMemoryBytes, memory.DefaultBudgetBytes)),
	}
	queryClient := processes.New(c, "", p.Store) // queries by workflow id need no namespace
	a.ListPendingApprovals = func(ctx context.Context, processID string) ([]protocol.Approval, error) {
		return queryClient.Process(processID).Approvals(ctx)
	}
	a.DescribeDecidedCall = func(ctx context.Context, processID, callID string) (shown.Call, error) {
		decidedCall, err := queryClient.Process(processID).DecidedCall(ctx, callID)
		return decidedCall.Call, err
	}
	if p.Limits.ConcurrentRequests > 0 {
		a.RequestSlots = semaphore.NewWeighted(int64(p.Limits.ConcurrentRequests))
	}
	return a, nil
}
