package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"processidea/activities"
	"processidea/activities/notify"
	"processidea/connect"
	"processidea/internal/safego"
	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/ideafile/price"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/signing"
	"processidea/tools"
	"processidea/tools/builtin"
	"processidea/tools/httptool"
	"processidea/tools/mcptool"
	"processidea/tools/runner"
	"processidea/worker/holdups"
	"processidea/worker/orphans"
	"processidea/workflows"
)

// Dependencies are the dependencies of a worker. FillFromEnvironment fills in zero values.
type Dependencies struct {
	Store *blobs.Store
	Tools *tools.Registry
	HTTP  *httptool.Client
	// MCP holds the sessions with MCP servers. It is closed with the worker.
	MCP *mcptool.Hub
	// Runners run further kinds of Tools, beside those of package kinds.
	Runners map[ideafile.ToolKind]runner.Runner
	// DeciderKeys are the keys that sign decisions; nil: those of PROCESSIDEA_DECIDERS, if it is set.
	DeciderKeys *signing.KeySource
	// DefaultPrices of LLMs apply if an Idea has none; nil: those in the file of PROCESSIDEA_PRICES, if it is set.
	DefaultPrices price.List
	// NoticeSender notifies people of what waits for them; nil: by PROCESSIDEA_NOTIFY_URL, if it is set.
	NoticeSender *notify.Sender
	LLM          llm.Config
	// LLMConfigByServer are more LLM servers, by the names that Ideas give them.
	LLMConfigByServer map[string]llm.Config
	Log               *slog.Logger
	// ReplyRecorder receives the LLM's replies; nil: none.
	ReplyRecorder activities.ReplyRecorder
	// PromptRecorder receives the prompts; nil: none.
	PromptRecorder activities.PromptRecorder
	// Observer receives the outcomes of Requests and Calls; nil: none.
	Observer activities.Observer
	// StopTimeout bounds how long a stopping worker waits for running activities. Activities that have not ended by
	// then count as lost with the worker, and run again on another.
	StopTimeout time.Duration
	Limits      Limits
	Version     connect.WorkerVersion
	// Interceptors observe workflows and activities; they may issue no commands.
	Interceptors []interceptor.WorkerInterceptor
	// Getenv is the environment that fills in what is missing; nil: os.Getenv.
	Getenv func(string) string
	// isChecked: Check has found no invalid setting.
	isChecked bool
}

func (p Dependencies) getenv(name string) string {
	if p.Getenv == nil {
		return os.Getenv(name)
	}
	return p.Getenv(name)
}

// lookupEnv is getenv for callers that distinguish empty from unset.
func (p Dependencies) lookupEnv() func(string) (string, bool) {
	if p.Getenv == nil {
		return os.LookupEnv
	}
	return func(name string) (string, bool) {
		v := p.Getenv(name)
		return v, v != ""
	}
}

// FillFromEnvironment fills in what is missing: the built-in tools, an HTTP client for the hosts that
// PROCESSIDEA_HTTP_ALLOW names, with the secrets that PROCESSIDEA_TOOL_SECRETS names, MCP servers on those hosts and
// those whose commands PROCESSIDEA_MCP_COMMANDS lists, and the LLM that OPENAI_BASE_URL, OPENAI_API_KEY and
// OPENAI_MODEL name.
func (p Dependencies) FillFromEnvironment() Dependencies {
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	if p.HTTP == nil {
		p.HTTP = httptool.New(httptool.Options{
			AllowList: p.getenv(httptool.AllowListVariable), AllowedSecrets: p.getenv(httptool.SecretsVariable),
			LookupEnv: p.lookupEnv(),
		})
	}
	if p.MCP == nil {
		p.MCP = mcptool.New(mcptool.Options{AllowedCommands: p.getenv(mcptool.CommandsVariable), HTTP: p.HTTP,
			LookupEnv: p.lookupEnv(), Log: p.Log})
	}
	if p.Tools == nil {
		p.Tools = tools.NewRegistry()
		builtin.Register(p.Tools, p.HTTP)
	}
	if p.LLM == (llm.Config{}) {
		p.LLM = LLMFromEnvironment(p.getenv)
	}
	if p.LLMConfigByServer == nil {
		p.LLMConfigByServer = llmServersFromEnvironment(p.getenv)
	}
	return p
}

// NewWorker makes a worker on the task queue of Process Idea. It is not started.
func NewWorker(c client.Client, p Dependencies) (worker.Worker, error) {
	if p.Store == nil {
		return nil, fmt.Errorf("engine: make worker: it needs a store")
	}
	p, err := p.FillAndCheck()
	if err != nil {
		return nil, fmt.Errorf("engine: make worker: %w", err)
	}
	p.logSettings()
	a, err := p.newActivities(c)
	if err != nil {
		return nil, fmt.Errorf("engine: make worker: %w", err)
	}
	holdUpTracker := p.newHoldUpTracker(c)
	a.HoldUpRecorder, p.Store.OnFailure = holdUpTracker, holdUpTracker.RecordStoreFailure
	o := p.workerOptions()
	o.Identity = connect.WorkerIdentity(p.Store)
	fatalErrors := make(chan error, 2)
	o.OnFatalError = func(err error) { fatalErrors <- err }
	w := worker.New(c, protocol.TaskQueue, o)
	workflows.Register(w)
	requestWorker := worker.New(c, protocol.RequestTaskQueue, p.requestWorkerOptions(o))
	a.Register(w)
	a.Register(requestWorker)
	watchOrphans := func(ctx context.Context) { orphans.WatchAndCancel(ctx, c, p.Log) }
	return &workerSet{Worker: w, requestWorker: requestWorker, fatalErrors: fatalErrors, mcpHub: p.MCP,
		watchOrphans: watchOrphans,
		watchHoldUps: holdUpTracker.WatchAndReport}, nil
}

// newHoldUpTracker makes the Tracker of the processes that the worker holds up.
func (p Dependencies) newHoldUpTracker(c client.Client) *holdups.Tracker {
	sendSignal := func(ctx context.Context, processID string, s protocol.WorkerHoldUpSignal) error {
		return c.SignalWorkflow(ctx, processID, "", protocol.SignalWorkerHoldUp, s)
	}
	o := holdups.Options{CheckStore: p.Store.CheckWritableAtFailedSize, SendSignal: sendSignal, Log: p.Log,
		ListHoldUpsInTemporal: func(ctx context.Context) (map[string][]turn.HoldUp, error) {
			return holdups.HoldUpsInTemporal(ctx, c, activities.Names())
		},
		FindRunning: func(ctx context.Context, processIDs []string) (map[string]bool, error) {
			return holdups.RunningProcesses(ctx, c, processIDs)
		}}
	if observer, ok := p.Observer.(activities.HoldUpObserver); ok {
		o.ObserveProcessCount = observer.ObserveHoldUps
	}
	return holdups.New(o)
}

// FillAndCheck fills in what is missing, and returns one error for all invalid settings, before anything is started
// with them.
func (p Dependencies) FillAndCheck() (Dependencies, error) {
	if p.isChecked {
		return p, nil
	}
	p = p.FillFromEnvironment()
	_, err := httptool.CheckSecretEntries(p.getenv(httptool.SecretsVariable))
	errs := []error{err, mcptool.CheckAllowedCommands(p.getenv(mcptool.CommandsVariable)),
		httptool.CheckAllowList(p.getenv(httptool.AllowListVariable)), p.LLM.Check(),
		checkLLMServers(p.LLMConfigByServer)}
	if p.NoticeSender == nil {
		p.NoticeSender, err = notify.FromEnvironment(p.getenv)
		errs = append(errs, err)
	}
	if p.DeciderKeys == nil {
		p.DeciderKeys, err = signing.FromEnvironment(context.Background(), p.getenv)
		errs = append(errs, err)
	}
	if p.DefaultPrices == nil {
		p.DefaultPrices, err = pricesFromFile(p.getenv(PricesVariable))
		errs = append(errs, err)
	}
	err = errors.Join(errs...)
	p.isChecked = err == nil
	return p, err
}

// logSettings logs what follows from valid settings.
func (p Dependencies) logSettings() {
	unrestrictedSecrets, _ := httptool.CheckSecretEntries(p.getenv(httptool.SecretsVariable))
	if len(unrestrictedSecrets) > 0 {
		p.Log.Warn("any host may receive these secrets: everybody who may start processes can read them",
			"variable", httptool.SecretsVariable, "names", strings.Join(unrestrictedSecrets, ", "))
	}
	if p.Limits.MaxDollarsPerDay > 0 && len(p.DefaultPrices) == 0 {
		p.Log.Warn("--money-a-day counts no Request of an Idea without prices (config.prices): the worker has none",
			"variable", PricesVariable)
	}
	if p.DeciderKeys == nil {
		p.Log.Info("no keys for signed decisions: where a policy requires one, no decision counts", "variable",
			signing.DecidersVariable)
		return
	}
	p.Log.Info("checking signed decisions", "keys", p.DeciderKeys.FileOrURL())
}

// workerSet is a worker with what runs beside it. It also serves the task queue of Requests, looks for instances whose
// process is gone, reports what holds processes up, and ends the sessions with MCP servers when it has stopped.
type workerSet struct {
	worker.Worker
	requestWorker              worker.Worker
	fatalErrors                chan error // why Worker or requests cannot go on
	mcpHub                     *mcptool.Hub
	watchOrphans, watchHoldUps func(context.Context)
	stopWatching               func()
}

func (r *workerSet) Start() error {
	if err := r.Worker.Start(); err != nil {
		return err
	}
	if err := r.requestWorker.Start(); err != nil {
		r.Worker.Stop()
		return err
	}
	r.stopWatching = r.startWatching()
	return nil
}

func (r *workerSet) Stop() {
	if r.stopWatching != nil {
		r.stopWatching()
	}
	stopped := make(chan struct{}) // both drain in the same time
	safego.Go("engine.requests", func() error { r.requestWorker.Stop(); return nil }, func(error) { close(stopped) })
	r.Worker.Stop()
	<-stopped
	r.mcpHub.Close()
}

// Run works until it is interrupted, or until one of the two workers cannot go on.
func (r *workerSet) Run(interrupt <-chan any) error {
	if err := r.Start(); err != nil {
		r.mcpHub.Close()
		return err
	}
	defer r.Stop()
	select {
	case <-interrupt:
		return nil
	case err := <-r.fatalErrors:
		return err
	}
}

// startWatching returns a function that ends the watch, and waits until it has ended.
func (r *workerSet) startWatching() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var watchers sync.WaitGroup
	watchers.Add(2)
	done := func(error) { watchers.Done() }
	safego.Go("engine.orphans", func() error { r.watchOrphans(ctx); return nil }, done)
	safego.Go("engine.holdups", func() error { r.watchHoldUps(ctx); return nil }, done)
	return func() { cancel(); watchers.Wait() }
}
