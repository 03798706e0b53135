package service

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"processidea/model/ideafile"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/tools"
	"processidea/tools/memory"
	"processidea/tools/runner"
	"processidea/worker/engine"
)

// settings are what a worker can be told. Each is a flag, and a variable named after it.
type settings struct {
	listen  string
	gateway string // empty: none
	// What the gate holds against this version.
	gateIdeas     string
	gateHistories int
	drain         time.Duration

	maxRequests, maxCalls, maxPureCalls, eagerCalls int
	callsPerSecond                                  float64
	lostAfter                                       time.Duration
	saveActions                                     bool
	maxResult                                       int // bytes
	maxMemory, memoryLimit                          int64
	storeCache                                      int // bytes
	maxWorkflowTasks, cachedWorkflows               int
	workflowPollers, activityPollers                int

	deployment, buildID string

	logLevel  slog.Level
	logFormat string

	tools   []func(*tools.Registry) // of those who build a worker of their own
	runners map[ideafile.ToolKind]runner.Runner
	own     engine.Own
	place   func() string // where the store is; nil: where the environment says
}

// Option adds to a worker what no flag can.
type Option func(*settings)

// WithTools registers tools beside the built-in ones. A name that is taken, or unfit, panics when the worker starts.
func WithTools(register func(*tools.Registry)) Option {
	return func(s *settings) { s.tools = append(s.tools, register) }
}

// WithRunner adds a kind of Tool: Tools with `_activity: {"<kind>": …}` are run by x. A kind that is taken panics when the
// worker starts.
func WithRunner(kind ideafile.ToolKind, x runner.Runner) Option {
	return func(s *settings) {
		if s.runners == nil {
			s.runners = map[ideafile.ToolKind]runner.Runner{}
		}
		s.runners[kind] = x
	}
}

// WithOwn adds what a program of one's own brings along.
func WithOwn(own engine.Own) Option { return func(s *settings) { s.own = own } }

// WithStore says where the store is, a folder or a bucket's URL, in place of the environment. It is asked when the worker starts.
func WithStore(place func() string) Option { return func(s *settings) { s.place = place } }

// variable names the environment variable of a flag.
func variable(flag string) string {
	return "PROCESSIDEA_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func (s *settings) declare(f *pflag.FlagSet) {
	f.SortFlags = false
	// Loopback, because nothing asks who is there. The port is the one of OpenTelemetry's Prometheus exporters.
	f.StringVar(&s.listen, "listen", "127.0.0.1:9464", "`address` of /healthz, /readyz and /metrics; empty: none of them")
	f.StringVar(&s.gateway, "gateway", "", "`address` at which to serve the HTTP API too; docs/gateway.md says who may use it")
	f.DurationVar(&s.drain, "drain", 30*time.Second,
		"how long Calls and Requests that run may still take once the worker is told to stop")
	f.IntVar(&s.maxRequests, "max-requests", 100, "Requests to LLMs at once; more wait for their turn")
	f.IntVar(&s.maxCalls, "max-calls", 1000, "Calls at once; a slot that no Request needs may run one more")
	f.IntVar(&s.maxPureCalls, "max-pure-calls", 1000, "Calls of pure tools at once, those that are ready together counted as one; they run inside workflow tasks")
	f.IntVar(&s.eagerCalls, "eager-calls", 3,
		"Calls that one workflow task may start at once on the worker that ran it; more are spread over all workers")
	f.Float64Var(&s.callsPerSecond, "calls-per-second", 0,
		"Calls and Requests that begin in a second, of all workers together; 0: no limit")
	f.DurationVar(&s.lostAfter, "lost-after", 30*time.Second,
		"after how long without a sign of life the Calls and Requests of a worker count as lost, at least 5s")
	f.BoolVar(&s.saveActions, "save-actions", true,
		"processes that begin here take fewer of the actions that a hosted Temporal bills, and some milliseconds more for each report of an instance")
	f.IntVar(&s.maxResult, "max-result-bytes", 20<<20, "size of one Call's result; a larger one is the Call's error")
	f.Int64Var(&s.maxMemory, "max-memory-bytes", memory.DefaultBudget,
		"memory that Calls and Requests may hold together, by an estimate; what is large waits for room")
	f.Int64Var(&s.memoryLimit, "memory-limit-bytes", 0,
		"what the whole worker may take, as far as what is in use allows; 0: four fifths of its container's memory")
	f.IntVar(&s.storeCache, "store-cache-bytes", blobs.DefaultCacheBytes, "stored values kept in memory; others are read again")
	f.IntVar(&s.maxWorkflowTasks, "max-workflow-tasks", 1000, "workflow tasks at once; at least 2")
	f.IntVar(&s.cachedWorkflows, "cached-workflows", 10_000,
		"processes and instances kept in memory; others are replayed from their history when something happens to them")
	f.IntVar(&s.workflowPollers, "workflow-pollers", 5, "polls for workflow tasks at once; at least 2")
	f.IntVar(&s.activityPollers, "activity-pollers", 5, "polls for Calls and Requests at once")
	f.StringVar(&s.deployment, "deployment", "", "`name` of the Worker Deployment that it is of, for versions; with --build-id")
	f.StringVar(&s.buildID, "build-id", "", "its `version` in that deployment, such as a commit")
	f.StringVar(&s.gateIdeas, "gate-ideas", "", "`folder` of the Idea files that the workflow Gate checks and simulates with this version")
	f.IntVar(&s.gateHistories, "gate-histories", 100, "histories that the workflow Gate replays: so many of what runs, and so many of what has ended")
	f.TextVar(&s.logLevel, "log-level", slog.LevelInfo, "the least `level` that is logged: debug, info, warn or error")
	f.StringVar(&s.logFormat, "log-format", "text", "text or json")
	f.VisitAll(func(f *pflag.Flag) { f.Usage += " ($" + variable(f.Name) + ")" })
}

// standardVariables are those by which Temporal's worker controller gives a setting; ours go before.
var standardVariables = map[string][]string{"deployment": {"TEMPORAL_DEPLOYMENT_NAME"}, "build-id": {"TEMPORAL_WORKER_BUILD_ID"}}

// complete takes from the environment what no flag gives, and refuses what cannot be meant. Empty is unset, but for
// the address, which may be none.
func (s *settings) complete(f *pflag.FlagSet, lookup func(string) (string, bool)) (err error) {
	f.VisitAll(func(f *pflag.Flag) {
		for _, from := range append([]string{variable(f.Name)}, standardVariables[f.Name]...) {
			v, set := lookup(from)
			if f.Changed || !set || (v == "" && f.Name != "listen") || err != nil {
				continue
			}
			if bad := f.Value.Set(v); bad != nil {
				err = fmt.Errorf("%w: read %s: %q: %w", errUsage, from, v, bad)
			}
			return
		}
	})
	if err != nil {
		return err
	}
	return s.check()
}

func (s *settings) check() error {
	for _, c := range []struct {
		flag       string
		got, least float64
	}{
		{"drain", s.drain.Seconds(), 0},
		{"max-requests", float64(s.maxRequests), 1},
		{"max-calls", float64(s.maxCalls), 1},
		{"max-pure-calls", float64(s.maxPureCalls), 1},
		{"eager-calls", float64(s.eagerCalls), 1},
		{"calls-per-second", s.callsPerSecond, 0},
		{"lost-after", s.lostAfter.Seconds(), protocol.HeartbeatTimeout.Seconds()},
		{"max-result-bytes", float64(s.maxResult), 1},
		{"max-memory-bytes", float64(s.maxMemory), 1},
		{"memory-limit-bytes", float64(s.memoryLimit), 0},
		{"store-cache-bytes", float64(s.storeCache), 1},
		// Polls alternate between what is new and what this worker has in memory.
		{"max-workflow-tasks", float64(s.maxWorkflowTasks), 2},
		{"cached-workflows", float64(s.cachedWorkflows), 0},
		{"workflow-pollers", float64(s.workflowPollers), 2},
		{"activity-pollers", float64(s.activityPollers), 1},
	} {
		if !(c.got >= c.least) { // not a number is refused too
			return fmt.Errorf("%w: --%s (%s) is %v; it is at least %v", errUsage, c.flag, variable(c.flag), c.got, c.least)
		}
	}
	if (s.deployment == "") != (s.buildID == "") {
		return fmt.Errorf("%w: --deployment (%s) and --build-id (%s) go together", errUsage, variable("deployment"), variable("build-id"))
	}
	if s.logFormat != "text" && s.logFormat != "json" {
		return fmt.Errorf("%w: --log-format (%s) is %q; it is text or json", errUsage, variable("log-format"), s.logFormat)
	}
	return nil
}
