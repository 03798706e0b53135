package service

import (
	"errors"
	"fmt"
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
	listen  string
	gateway string // empty: none
	// What the gate checks this version against.
	gateIdeas     string
	gateHistories int
	drain         time.Duration

	limits          engine.Limits
	memoryLimit     int64
	storeCache      int // bytes
	cachedWorkflows int

	deployment, buildID string

	logLevel  slog.Level
	logFormat string

	own   engine.Additions
	place func() string // where the store is; nil: in the environment
}

// Option adds to a worker what no flag can.
type Option func(*settings)

// WithTools registers tools beside the built-in ones. It panics on a name that is taken or unfit.
func WithTools(register func(*tools.Registry)) Option {
	return func(s *settings) { s.own.Register(register) }
}

// WithRunner adds a kind of Tool: Tools with `_activity: {"<kind>": …}` are run by x. If the kind is taken, the worker
// panics when it starts.
func WithRunner(kind ideafile.ToolKind, x runner.Runner) Option {
	return func(s *settings) { s.own.AddRunner(kind, x) }
}

// WithOwn sets the Tools and runners of a custom program.
func WithOwn(own engine.Additions) Option { return func(s *settings) { s.own = own } }

// WithStore sets where the store is, a folder or a bucket's URL, in place of the environment. place is called when the
// worker starts.
func WithStore(place func() string) Option { return func(s *settings) { s.place = place } }

// variableOf names the environment variable of a flag.
func variableOf(flag string) string {
	return "PROCESSIDEA_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// defaultSettings are the default settings of a worker.
func defaultSettings() settings {
	return settings{
		drain: 30 * time.Second, storeCache: blobs.DefaultCacheBytes, cachedWorkflows: 10_000, gateHistories: 100,
		limits: engine.Limits{
			Requests: 100, Calls: 1000, PureCalls: 1000, EagerCalls: 3, LostAfter: 30 * time.Second,
			LLMPatience: activities.DefaultLLMPatience, LLMPause: llm.DefaultLongestPause,
			MaxResult: 20 << 20, Memory: memory.DefaultBudget, WorkflowTasks: 1000,
			WorkflowPollers: 5, ActivityPollers: 5,
		},
	}
}

func (s *settings) declare(f *pflag.FlagSet) {
	f.SortFlags = false
	// Loopback, because there is no authentication. The port is the one of OpenTelemetry's Prometheus exporters.
	f.StringVar(&s.listen, "listen", "127.0.0.1:9464",
		"`address` of /healthz, /readyz and /metrics; empty: none of them")
	f.StringVar(&s.gateway, "gateway", "",
		"`address` at which to serve the HTTP API too; docs/gateway.md says who may use it")
	s.declareBounded(f)
	f.StringVar(&s.deployment, "deployment", "",
		"`name` of its Worker Deployment, for versions; with --build-id")
	f.StringVar(&s.buildID, "build-id", "", "its `version` in that deployment, such as a commit")
	f.StringVar(&s.gateIdeas, "gate-ideas", "",
		"`folder` of the Idea files that the workflow Gate checks and simulates with this version")
	flags.Int(f, &s.gateHistories, "gate-histories", 0, maxNumber,
		"how many histories the workflow Gate replays, of running and of ended workflows each; 0: none")
	f.TextVar(&s.logLevel, "log-level", slog.LevelInfo, "the least `level` that is logged: debug, info, warn or error")
	f.StringVar(&s.logFormat, "log-format", "text", "text or json")
	f.VisitAll(func(f *pflag.Flag) { f.Usage += " ($" + variableOf(f.Name) + ")" })
}

// The maxima of a worker's settings. No machine has more, or Temporal refuses more: a namespace allows 1,200 polls.
const (
	maxNumber = 1_000_000
	maxPolls  = 500
	maxBytes  = heap.MaxBytes
)

// declareBounded adds the flags that are numbers.
func (s *settings) declareBounded(f *pflag.FlagSet) {
	l := &s.limits
	flags.Duration(f, &s.drain, "drain", jsonval.MinDuration, true,
		"how long running Calls and Requests may still take once the worker is told to stop; 0: no time")
	flags.Int(f, &l.Requests, "max-requests", 1, maxNumber, "Requests to LLMs at once; more wait for their turn")
	flags.Int(f, &l.Calls, "max-calls", 1, maxNumber,
		"Calls at once; a slot that no Request needs may run one more")
	flags.Int(f, &l.PureCalls, "max-pure-calls", 1, maxNumber,
		"Calls of pure tools at once; those that are ready together count as one; they run inside workflow tasks")
	flags.Int(f, &l.EagerCalls, "eager-calls", 1, maxNumber,
		"Calls that one workflow task may start at once on the worker that ran it; more are spread over all workers")
	flags.Float(f, &l.CallsPerSecond, "calls-per-second", 0.001, maxNumber,
		"Calls that begin in a second, of all workers together, and as many Requests; 0: no limit")
	flags.Float(f, &l.MoneyADay, "money-a-day", 0.001, maxNumber,
		"dollars that Requests may cost in a day (UTC), of all workers together; then they wait; 0: no limit")
	flags.Duration(f, &l.LostAfter, "lost-after", protocol.HeartbeatTimeout, false,
		"how long a worker may show no sign of life before its Calls and Requests count as lost; at least 5s")
	flags.Duration(f, &l.LLMPatience, "llm-patience", engine.MinPatience, false,
		"how long a Request is tried again while its LLM's server is away, unless the Idea says "+
			"(config.llm.patience); at least 1s")
	flags.Duration(f, &l.LLMPause, "llm-pause", engine.MinPause, false,
		"the longest pause between two attempts at an LLM's server that is away; at least 10ms")
	f.BoolVar(&l.SaveActions, "save-actions", true,
		"processes that begin here use fewer of the actions that a hosted Temporal bills; each report of an "+
			"instance takes some milliseconds more")
	flags.Int(f, &l.MaxResult, "max-result-bytes", 1, maxBytes,
		"size of one Call's result; a larger one is the Call's error")
	flags.Int(f, &l.Memory, "max-memory-bytes", 1, maxBytes,
		"memory that Calls and Requests may hold together, by an estimate; large ones wait for room")
	flags.Int(f, &s.memoryLimit, "memory-limit-bytes", 0, maxBytes,
		"memory that the whole worker tries to stay under; 0: four fifths of its container's memory")
	flags.Int(f, &s.storeCache, "store-cache-bytes", 1, maxBytes, "stored values kept in memory; others are read again")
	// Polls alternate between new tasks and those of workflows in this worker's memory.
	flags.Int(f, &l.WorkflowTasks, "max-workflow-tasks", 2, maxNumber, "workflow tasks at once; at least 2")
	flags.Int(f, &s.cachedWorkflows, "cached-workflows", 0, maxNumber,
		"processes and instances kept in memory; others are replayed from their history when needed; 0: none")
	flags.Int(f, &l.WorkflowPollers, "workflow-pollers", 2, maxPolls, "polls for workflow tasks at once; at least 2")
	flags.Int(f, &l.ActivityPollers, "activity-pollers", 1, maxPolls, "polls for Calls and Requests at once")
}

// standardVariables are the variables that Temporal's worker controller sets; ours take precedence.
var standardVariables = map[string][]string{"deployment": {"TEMPORAL_DEPLOYMENT_NAME"},
	"build-id": {"TEMPORAL_WORKER_BUILD_ID"}}

// complete takes the settings whose flags are not given from the environment, and returns all errors together. Empty
// means unset, except for the address, which may be empty.
func (s *settings) complete(f *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var wrong []error
	f.VisitAll(func(f *pflag.Flag) {
		for _, from := range append([]string{variableOf(f.Name)}, standardVariables[f.Name]...) {
			v, set := lookup(from)
			if f.Changed || !set || (v == "" && f.Name != "listen") {
				continue
			}
			if bad := f.Value.Set(v); bad != nil {
				wrong = append(wrong, fmt.Errorf("read %s: %q: %w", from, v, bad))
			}
			return
		}
	})
	if (s.deployment == "") != (s.buildID == "") {
		wrong = append(wrong, fmt.Errorf("--deployment (%s) and --build-id (%s) go together", variableOf("deployment"),
			variableOf("build-id")))
	}
	if s.logFormat != "text" && s.logFormat != "json" {
		wrong = append(wrong, fmt.Errorf("--log-format (%s) is %q; want text or json", variableOf("log-format"),
			s.logFormat))
	}
	if s.gateIdeas != "" {
		if _, err := os.ReadDir(s.gateIdeas); err != nil {
			wrong = append(wrong, fmt.Errorf("--gate-ideas (%s): %w", variableOf("gate-ideas"), err))
		}
	}
	return errors.Join(wrong...)
}
