package connect

import (
	"context"
	"errors"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"processidea/store/blobs"
	"processidea/store/encryption"
)

// decryptGuardOption withholds tasks from the worker if their payloads cannot be decrypted. The SDK passes such
// payloads to workflow code, which then fails for good, drops a signal, or takes "Encoded failure" for a tool's
// message. The guard fails the workflow task instead; the server offers it again until a worker has the key.
func decryptGuardOption(keys *encryption.Keys, logger log.Logger) grpc.DialOption {
	g := &decryptGuard{keys: keys, log: logger}
	return grpc.WithChainUnaryInterceptor(g.intercept)
}

type decryptGuard struct {
	keys         *encryption.Keys
	log          log.Logger // may be nil
	loggedKeyIDs sync.Map   // the missing keys logged so far
}

func (g *decryptGuard) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
	invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if err := invoker(ctx, method, req, reply, cc, opts...); err != nil {
		return err
	}
	switch r := reply.(type) {
	case *workflowservice.PollWorkflowTaskQueueResponse:
		if !g.checkOrRefuseWorkflowTask(ctx, cc, req.(pollRequest), r) {
			r.Reset() // reported as a poll that found no task
		}
	case *workflowservice.RespondWorkflowTaskCompletedResponse:
		if t := r.GetWorkflowTask(); t != nil && !g.checkOrRefuseWorkflowTask(ctx, cc, req.(pollRequest), t) {
			r.WorkflowTask = nil
		}
	case *workflowservice.PollActivityTaskQueueResponse:
		g.dropActivityTaskWithoutKey(ctx, r)
	case *workflowservice.GetWorkflowExecutionHistoryResponse:
		if err := g.checkDecryptable(ctx, r); err != nil {
			g.logMissingKey(err, "")
			return status.Error(codes.FailedPrecondition, err.Error())
		}
	}
	return nil
}

// pollRequest has the fields that all requests for tasks share.
type pollRequest interface {
	GetNamespace() string
	GetIdentity() string
}

// checkOrRefuseWorkflowTask fails a workflow task whose payloads cannot be decrypted.
func (g *decryptGuard) checkOrRefuseWorkflowTask(ctx context.Context, cc *grpc.ClientConn, request pollRequest,
	t *workflowservice.PollWorkflowTaskQueueResponse) (canDecrypt bool) {
	err := g.checkDecryptable(ctx, t)
	if err == nil {
		return true
	}
	g.logMissingKey(err, t.GetWorkflowExecution().GetWorkflowId())
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refusalTimeout)
	defer cancel()
	// If this request does not reach the server, the task times out: the same result, later.
	_ = refuseTask(ctx, workflowservice.NewWorkflowServiceClient(cc), request, t, err)
	return false
}

const refusalTimeout = 5 * time.Second

// RefusalSource is the source of failures of workflow tasks that a worker refused for want of a key.
const RefusalSource = "processidea"

func refuseTask(ctx context.Context, c workflowservice.WorkflowServiceClient, request pollRequest,
	t *workflowservice.PollWorkflowTaskQueueResponse,
	cause error) error {
	if t.GetQuery() != nil {
		_, err := c.RespondQueryTaskCompleted(ctx, &workflowservice.RespondQueryTaskCompletedRequest{
			TaskToken: t.GetTaskToken(), Namespace: request.GetNamespace(),
			CompletedType: enumspb.QUERY_RESULT_TYPE_FAILED, ErrorMessage: "the worker: " + cause.Error(),
		})
		return err
	}
	if t.GetAttempt() > 1 {
		return nil // as the SDK does: if every attempt failed at once, the server would repeat them without a pause
	}
	_, err := c.RespondWorkflowTaskFailed(ctx, &workflowservice.RespondWorkflowTaskFailedRequest{
		TaskToken: t.GetTaskToken(), Namespace: request.GetNamespace(), Identity: request.GetIdentity(),
		Cause:   enumspb.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE,
		Failure: &failurepb.Failure{Message: cause.Error(), Source: RefusalSource},
	})
	return err
}

// dropActivityTaskWithoutKey drops an activity task for which a key is missing, as if this worker had died with the
// task. A missing key is no failure of a tool, and another worker may have it. An altered payload is passed on, and
// fails.
func (g *decryptGuard) dropActivityTaskWithoutKey(ctx context.Context,
	t *workflowservice.PollActivityTaskQueueResponse) {
	err := g.checkDecryptable(ctx, t)
	var missing *encryption.MissingKeyError
	if errors.As(err, &missing) {
		g.logMissingKey(err, t.GetWorkflowExecution().GetWorkflowId())
		t.Reset()
	}
}

// checkDecryptable tries to decrypt every payload of a message. For payloads in the store it only compares the key id.
func (g *decryptGuard) checkDecryptable(ctx context.Context, m proto.Message) error {
	return blobs.EachPayload(ctx, m, func(p *commonpb.Payload) error {
		_, err := g.keys.OpenPayload(p)
		if id := blobs.KeyIDOfClaim(p); err == nil && id != "" {
			err = g.keys.Require(id)
		}
		return err
	})
}

// logMissingKey logs each missing key once.
func (g *decryptGuard) logMissingKey(err error, workflowID string) {
	if g.log == nil {
		return
	}
	var missing *encryption.MissingKeyError
	if !errors.As(err, &missing) {
		g.log.Error("a payload cannot be decrypted", "error", err, "WorkflowID", workflowID)
		return
	}
	for _, id := range missing.IDs {
		if _, wasLogged := g.loggedKeyIDs.LoadOrStore(id, true); !wasLogged {
			g.log.Error("a key is missing: processes that need it wait for a worker that has it", "key", id, "variable",
				encryption.KeysVariable, "WorkflowID", workflowID)
		}
	}
}
