package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"processidea/client/ideafiles"
	"processidea/connect"
	"processidea/gateway/server"
	"processidea/internal/flags"
	"processidea/internal/heap"
	"processidea/internal/pause"
	"processidea/internal/rehearsal"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/encryption"
	"processidea/tools/kinds"
	"processidea/worker/engine"
	"processidea/worker/gate"
	"processidea/worker/holdups"
	"processidea/worker/telemetry"
)

// temporalDialTimeout bounds the attempt to reach Temporal.
const temporalDialTimeout = 10 * time.Second

// service is a worker with everything around it.
type service struct {
	settings
	log         *slog.Logger
	health      *health
	metrics     *telemetry.Metrics
	traces      *telemetry.Traces // nil: none
	pollMonitor pollMonitor
	store       *blobs.Store
	client      client.Client
	namespace   string
	worker      worker.Worker
	cleanups    []func()
	// What readSettings read.
	temporalOptions    client.Options
	engineDependencies engine.Dependencies
	gatewayOptions     server.Options // of the gateway
}

// run works until ctx ends, and then drains. settingsErr is the error that is already known in the settings.
func run(ctx context.Context, cfg settings, settingsErr error, log *slog.Logger) error {
	slog.SetDefault(log) // for panics, and for libraries
	s := &service{settings: cfg, log: log, health: newHealth()}
	defer s.close()
	for _, warning := range flags.MisspelledVariableHints(os.Environ()) {
		log.Warn(warning)
	}
	if err := s.readSettings(ctx, settingsErr); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{s.startMetrics, s.serveHealthAndMetrics, s.openStore, s.connect,
		s.waitForStore, s.makeWorker, s.registerWaitingCallCount, s.serveGateway} {
		err := step(ctx)
		if ctx.Err() != nil {
			log.Info("stopped before it had begun")
			return nil
		}
		if err != nil {
			return err
		}
	}
	return s.runWorker(ctx)
}

// close runs the cleanups, the last first.
func (s *service) close() {
	for _, cleanup := range slices.Backward(s.cleanups) {
		cleanup()
	}
}

// readSettings reads all settings before any of them is used, and returns the errors of all.
func (s *service) readSettings(ctx context.Context, knownErr error) error {
	errs := []error{knownErr}
	addError := func(err error) { errs = append(errs, err) }
	var err error
	s.temporalOptions, _, err = connect.TemporalOptionsFromEnvironment()
	addError(err)
	_, err = connect.KeysFromEnvironment()
	addError(err)
	s.engineDependencies, err = engine.Dependencies{Log: s.log}.With(s.additions).FillAndCheck()
	addError(err)
	if s.gatewayAddress != "" {
		s.gatewayOptions, err = server.FromEnvironment(s.gatewayAddress, server.SystemUser(os.Getenv), os.Getenv)
		addError(err)
	}
	addError(s.startTraces(ctx))
	if err = flags.JoinSettingErrors(errs...); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return nil
}

func (s *service) openStore(ctx context.Context) error {
	place, err := s.storePlace()
	if err != nil {
		return err
	}
	s.store, err = connect.OpenStore(ctx, place, blobs.WithCacheBytes(s.storeCacheBytes))
	if encryption.IsKeyError(err) {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if err != nil {
		return err
	}
	if s.findStorePlace == nil && os.Getenv(connect.StoreVariable) == "" {
		s.log.Warn("no store is set: this worker uses a store of its own, which no other program reads",
			"variable", connect.StoreVariable, "store", place)
	}
	if keyID := s.store.Keys().PrimaryID(); keyID != "" {
		s.log.Info("encrypting", "key", keyID)
	}
	s.cleanups = append(s.cleanups, func() { _ = s.store.Close() })
	return nil
}

func (s *service) storePlace() (string, error) {
	if s.findStorePlace != nil {
		return s.findStorePlace(), nil
	}
	dataFolder, err := connect.DataFolder("")
	return connect.StorePathOrURL(dataFolder), err
}

// storePollInterval is how often an unavailable store is tried again.
const storePollInterval = 2 * time.Second

// waitForStore waits for a store that is unavailable, or in which this worker may not write: any process that it began
// would be stuck.
func (s *service) waitForStore(ctx context.Context) error {
	hasWarned := false
	for {
		err := connect.InitializeStore(ctx, s.client, s.store)
		if err == nil {
			// Other faults, such as no room, are reported when they hold a process up.
			if err = s.store.CheckWritable(ctx); !holdups.IsWriteForbidden(err) {
				err = nil
			}
		}
		switch {
		case encryption.IsKeyError(err):
			return fmt.Errorf("%w: %w", errUsage, err)
		case !holdups.IsStoreWorthAwaiting(err):
			s.health.setPhase(phaseStarting)
			return err
		}
		s.health.setPhase(workerPhase("store: " + err.Error()))
		if !hasWarned {
			hasWarned = true
			s.log.Warn("waiting for the store", "error", err)
		}
		if err := pause.For(ctx, storePollInterval); err != nil {
			return err
		}
	}
}

func (s *service) connect(ctx context.Context) error {
	o := s.temporalOptions
	o.Logger = log.NewStructuredLogger(s.log)
	if s.logLevel > slog.LevelDebug {
		o.Logger = connect.QuietLogger(o.Logger)
	}
	o.MetricsHandler = s.metrics.SDKHandler(func(err error) { s.log.Warn("a metric could not be made", "error", err) })
	o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, s.pollMonitor.dialOption())
	dialCtx, cancel := context.WithTimeout(ctx, temporalDialTimeout)
	defer cancel()
	var err error
	s.client, err = client.DialContext(dialCtx, connect.ClientOptions(o, s.store))
	if err != nil {
		return fmt.Errorf("reach Temporal at %s: %w: %w", o.HostPort, errTemporalUnreachable, err)
	}
	s.cleanups = append(s.cleanups, s.client.Close)
	s.namespace = cmp.Or(o.Namespace, client.DefaultNamespace)
	s.log.Info("connected", "address", o.HostPort, "namespace", o.Namespace, "queue", protocol.TaskQueue)
	return nil
}

func (s *service) makeWorker(context.Context) (err error) {
	dependencies := s.engineDependencies
	dependencies.Store, dependencies.Observer, dependencies.Interceptors = s.store, s.observer(), s.interceptors()
	dependencies.StopTimeout, dependencies.Limits = s.drainTimeout, s.limits
	dependencies.Version = connect.WorkerVersion{Deployment: s.deploymentName, BuildID: s.buildID}
	if !dependencies.LLM.IsConfigured() {
		s.log.Warn(
			"no LLM is configured: only processes with recorded replies can run; set OPENAI_API_KEY or OPENAI_BASE_URL")
	}
	worker.SetStickyWorkflowCacheSize(s.maxCachedWorkflows)
	heap.SetSoftLimit(cmp.Or(s.memoryLimitBytes, heap.DefaultLimit(0)))
	if s.worker, err = engine.NewWorker(s.client, dependencies); err != nil {
		return err
	}
	gate.Register(s.worker, gate.Options{
		Temporal: s.client, Namespace: s.namespace, Store: s.store, Version: dependencies.Version,
		IdeaFolder:   s.gateIdeaFolder,
		MaxHistories: s.maxGateHistories, Log: s.log,
		Tools: ideafiles.WorkerTools{Registry: kinds.NewKnownTools(dependencies.Tools, dependencies.Runners),
			CheckReplies: rehearsal.CountReplies},
	})
	return nil
}
