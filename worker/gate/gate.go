package gate

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/connect"
	"processidea/store/blobs"
)

// WorkflowType is the workflow type under which the gate is started. It has no input, and returns a Report.
const WorkflowType = "Gate"

const activityType = "CheckVersion"

// Options configure what this version is checked against.
type Options struct {
	Temporal  sdk.Client
	Namespace string
	Store     *blobs.Store
	Version   connect.WorkerVersion // the worker's own; zero: none
	// IdeaFolder is the folder of the Idea files that are checked and simulated; empty: none.
	IdeaFolder string
	// Tools are the Tools of this worker.
	Tools ideafiles.WorkerTools
	// MaxHistories is the number of histories to replay of running workflows, and as many of ended ones, the latest
	// first.
	MaxHistories int
	Log          *slog.Logger
}

// Report lists what was checked.
type Report struct {
	IdeaCount    int `json:"ideas"`     // that were checked and simulated
	HistoryCount int `json:"histories"` // that were replayed
	// Problems are the reasons for refusing the version; without any, the version fits.
	Problems []string `json:"problems,omitempty"`
}

// Register registers the gate with a worker.
func Register(r worker.Registry, o Options) {
	r.RegisterWorkflowWithOptions(gateWorkflow,
		workflow.RegisterOptions{Name: WorkflowType, VersioningBehavior: workflow.VersioningBehaviorPinned})
	r.RegisterActivityWithOptions(o.check, activity.RegisterOptions{Name: activityType})
}

// gateWorkflow fails if the version is refused, which a controller sees.
func gateWorkflow(ctx workflow.Context) (*Report, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Hour, HeartbeatTimeout: time.Minute,
		Summary:     "check this version against Idea files and histories",
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumAttempts: 3},
	})
	var r Report
	err := workflow.ExecuteActivity(ctx, activityType).Get(ctx, &r)
	if err != nil {
		return nil, err
	}
	if len(r.Problems) > 0 {
		const maxProblems = 20
		shownProblems := r.Problems[:min(len(r.Problems), maxProblems)]
		return nil, temporal.NewNonRetryableApplicationError(
			fmt.Sprintf("this version does not fit: %d problems: %s", len(r.Problems),
				strings.Join(shownProblems, "; ")),
			"gate_refused", nil, r)
	}
	return &r, nil
}

// check is the activity.
func (o Options) check(ctx context.Context) (*Report, error) {
	r := &Report{}
	if err := o.checkIdeas(ctx, r); err != nil {
		return nil, err
	}
	if err := o.replayHistories(ctx, r); err != nil {
		return nil, err
	}
	o.Log.Info("the gate has looked", "ideas", r.IdeaCount, "histories", r.HistoryCount, "problems", len(r.Problems))
	return r, nil
}

func (r *Report) addProblem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

func (o Options) newClient() *client.Client { return client.New(o.Temporal, o.Namespace, o.Store) }
