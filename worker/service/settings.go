package service

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"processidea/activities"
	"processidea/internal/flags"
	"processidea/internal/heap"
	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/tools"
	"processidea/tools/memory"
	"processidea/tools/runner"
	"processidea/worker/engine"
)

// settings are the settings of a worker. Each is a flag, and a variable named after it.
type settings struct {
	healthMetricsAddress string
	gatewayAddress       string // empty: none
	// What the gate checks this version against.
	gateIdeaFolder   string
	maxGateHistories int
	drainTimeout     time.Duration

	limits             engine.Limits
	memoryLimitBytes   int64
	storeCacheBytes    int // bytes
	maxCachedWorkflows int

	deploymentName, buildID string

	logLevel  slog.Level
	logFormat string

	additions      engine.Additions
	findStorePlace func() string // where the store is; nil: in the environment
}

// Option adds to a worker what no flag can.
type Option func(*settings)

// WithTools registers tools beside the built-in ones. It panics on a name that is taken or unfit.
func WithTools(register func(*tools.Registry)) Option {
	return func(s *settings) { s.additions.Register(register) }
}

// WithRunner adds a kind of Tool: Tools with `_activity: {"<kind>": …}` are run by x. If the kind is taken, the worker
// panics when it starts.
func WithRunner(kind ideafile.ToolKind, x runner.Runner) Option {
	return func(s *settings) { s.additions.AddRunner(kind, x) }
}

// WithAdditions sets the Tools and runners of a custom program.
func WithAdditions(additions engine.Additions) Option {
	return func(s *settings) { s.additions = additions }
}

// WithStore sets where the store is, a folder or a bucket's URL, in place of the environment. findPlace is called when
// the worker starts.
func WithStore(findPlace func() string) Option {
	return func(s *settings) { s.findStorePlace = findPlace }
}

// envVarOf names the environment variable of a flag.
func envVarOf(flag string) string {
	return "PROCESSIDEA_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// defaultSettings are the default settings of a worker.
func defaultSettings() settings {
	return settings{
		drainTimeout: 30 * time.Second, storeCacheBytes: blobs.DefaultCacheBytes, maxCachedWorkflows: 10_000,
		maxGateHistories: 100,
		limits: engine.Limits{
			ConcurrentRequests: 100, ConcurrentCalls: 1000, ConcurrentPureCalls: 1000, EagerCallsPerTask: 3,
			HeartbeatTimeout: 30 * time.Second,
			LLMPatience:      activities.DefaultLLMPatience, LLMMaxPause: llm.DefaultMaxRetryPause,
			MaxResultBytes: 20 << 20, MaxMemoryBytes: memory.DefaultBudgetBytes, ConcurrentWorkflowTasks: 1000,
			WorkflowPollers: 5, ActivityPollers: 5,
		},
	}
}

func (s *settings) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	// Loopback, because there is no authentication. The port is the one of OpenTelemetry's Prometheus exporters.
	f.StringVar(&s.healthMetricsAddress, "listen", "127.0.0.1:9464",
		"`address` of /healthz, /readyz and /metrics; empty: none of them")
	f.StringVar(&s.gatewayAddress, "gateway", "",
		"`address` at which to serve the HTTP API too; docs/gateway.md says who may use it")
	s.addNumberFlags(f)
	f.StringVar(&s.deploymentName, "deployment", "",
		"`name` of its Worker Deployment, for versions; with --build-id")
	f.StringVar(&s.buildID, "build-id", "", "its `version` in that deployment, such as a commit")
	f.StringVar(&s.gateIdeaFolder, "gate-ideas", "",
		"`folder` of the Idea files that the workflow Gate checks and simulates with this version")
	flags.Int(f, &s.maxGateHistories, "gate-histories", 0, maxSettingNumber,
		"how many histories the workflow Gate replays, of running and of ended workflows each; 0: none")
	f.TextVar(&s.logLevel, "log-level", slog.LevelInfo, "the least `level` that is logged: debug, info, warn or error")
	f.StringVar(&s.logFormat, "log-format", "text", "text or json")
	f.VisitAll(func(f *pflag.Flag) { f.Usage += " ($" + envVarOf(f.Name) + ")" })
}

// The maxima of a worker's settings. No machine has more, or Temporal refuses more: a namespace allows 1,200 polls.
const (
	maxSettingNumber = 1_000_000
	maxPollers       = 500
	maxSettingBytes  = heap.MaxLimitBytes
)

// addNumberFlags adds the flags that are numbers.
func (s *settings) addNumberFlags(f *pflag.FlagSet) {
	l := &s.limits
	flags.Duration(f, &s.drainTimeout, "drain", jsonval.MinDuration, true,
		"how long running Calls and Requests may still take once the worker is told to stop; 0: no time")
	flags.Int(f, &l.ConcurrentRequests, "max-requests", 1, maxSettingNumber,
		"Requests to LLMs at once; more wait for their turn")
	flags.Int(f, &l.ConcurrentCalls, "max-calls", 1, maxSettingNumber,
		"Calls at once; a slot that no Request needs may run one more")
	flags.Int(f, &l.ConcurrentPureCalls, "max-pure-calls", 1, maxSettingNumber,
		"Calls of pure tools at once; those that are ready together count as one; they run inside workflow tasks")
	flags.Int(f, &l.EagerCallsPerTask, "eager-calls", 1, maxSettingNumber,
		"Calls that one workflow task may start at once on the worker that ran it; more are spread over all workers")
	flags.Float(f, &l.CallsPerSecond, "calls-per-second", 0.001, maxSettingNumber,
		"Calls that begin in a second, of all workers together, and as many Requests; 0: no limit")
	flags.Float(f, &l.MaxDollarsPerDay, "money-a-day", 0.001, maxSettingNumber,
		"dollars that Requests may cost in a day (UTC), of all workers together; then they wait; 0: no limit")
	flags.Duration(f, &l.HeartbeatTimeout, "lost-after", protocol.HeartbeatTimeout, false,
		"how long a worker may show no sign of life before its Calls and Requests count as lost; at least 5s")
	flags.Duration(f, &l.LLMPatience, "llm-patience", engine.MinLLMPatience, false,
		"how long a Request is tried again while its LLM's server is away, unless the Idea says "+
			"(config.llm.patience); at least 1s")
	flags.Duration(f, &l.LLMMaxPause, "llm-pause", engine.MinLLMMaxPause, false,
		"the longest pause between two attempts at an LLM's server that is away; at least 10ms")
	f.BoolVar(&l.MinimizesActions, "save-actions", true,
		"processes that begin here use fewer of the actions that a hosted Temporal bills; each report of an "+
			"instance takes some milliseconds more")
	flags.Int(f, &l.MaxResultBytes, "max-result-bytes", 1, maxSettingBytes,
		"size of one Call's result; a larger one is the Call's error")
	flags.Int(f, &l.MaxMemoryBytes, "max-memory-bytes", 1, maxSettingBytes,
		"memory that Calls and Requests may hold together, by an estimate; large ones wait for room")
	flags.Int(f, &s.memoryLimitBytes, "memory-limit-bytes", 0, maxSettingBytes,
		"memory that the whole worker tries to stay under; 0: four fifths of its container's memory")
	flags.Int(f, &s.storeCacheBytes, "store-cache-bytes", 1, maxSettingBytes,
		"stored values kept in memory; others are read again")
	// Polls alternate between new tasks and those of workflows in this worker's memory.
	flags.Int(f, &l.ConcurrentWorkflowTasks, "max-workflow-tasks", 2, maxSettingNumber,
		"workflow tasks at once; at least 2")
	flags.Int(f, &s.maxCachedWorkflows, "cached-workflows", 0, maxSettingNumber,
		"processes and instances kept in memory; others are replayed from their history when needed; 0: none")
	flags.Int(f, &l.WorkflowPollers, "workflow-pollers", 2, maxPollers, "polls for workflow tasks at once; at least 2")
	flags.Int(f, &l.ActivityPollers, "activity-pollers", 1, maxPollers, "polls for Calls and Requests at once")
}

// temporalVariablesByFlag are the variables that Temporal's worker controller sets; ours take precedence.
var temporalVariablesByFlag = map[string][]string{"deployment": {"TEMPORAL_DEPLOYMENT_NAME"},
	"build-id": {"TEMPORAL_WORKER_BUILD_ID"}}

// readEnvironment takes the settings whose flags are not given from the environment, and returns all errors together.
// Empty means unset, except for the address, which may be empty.
func (s *settings) readEnvironment(f *pflag.FlagSet, lookupEnv func(string) (string, bool)) error {
	var errs []error
	f.VisitAll(func(f *pflag.Flag) {
		for _, variable := range append([]string{envVarOf(f.Name)}, temporalVariablesByFlag[f.Name]...) {
			v, isSet := lookupEnv(variable)
			if f.Changed || !isSet || (v == "" && f.Name != "listen") {
				continue
			}
			if setErr := f.Value.Set(v); setErr != nil {
				errs = append(errs, fmt.Errorf("read %s: %q: %w", variable, v, setErr))
			}
			return
		}
	})
	if (s.deploymentName == "") != (s.buildID == "") {
		errs = append(errs, fmt.Errorf("--deployment (%s) and --build-id (%s) go together", envVarOf("deployment"),
			envVarOf("build-id")))
	}
	if s.logFormat != "text" && s.logFormat != "json" {
		errs = append(errs, fmt.Errorf("--log-format (%s) is %q; want text or json", envVarOf("log-format"),
			s.logFormat))
	}
	if s.gateIdeaFolder != "" {
		if _, err := os.ReadDir(s.gateIdeaFolder); err != nil {
			errs = append(errs, fmt.Errorf("--gate-ideas (%s): %w", envVarOf("gate-ideas"), err))
		}
	}
	return errors.Join(errs...)
}

// logger returns the logger that the settings describe.
func (s settings) logger(out io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: s.logLevel}
	if s.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, o))
	}
	return slog.New(slog.NewTextHandler(out, o))
}
