package connect

import (
	"context"
	"path"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/retry"
	"go.temporal.io/api/errordetails/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// isRetriableByMethod maps requests that the SDK does not retry to a test of the errors after which they are sent
// again. They are queries, and the lists and deletes whose rate a server limits (ten lists a second in a namespace).
var isRetriableByMethod = map[string]retry.RetriableFunc{
	"ListWorkflowExecutions": isRateLimited, "GetWorkflowExecutionHistory": isRateLimited,
	"DeleteWorkflowExecution": isRateLimited,
	"ListSchedules":           isRateLimited, "DescribeSchedule": isRateLimited, "PatchSchedule": isRateLimited,
	"QueryWorkflow": isCanceled,
}

// retryOption retries the requests of isRetriableByMethod for some twenty seconds.
func retryOption() grpc.DialOption {
	retrier := retry.UnaryClientInterceptor()
	options := []grpc.CallOption{ // after the SDK's options, which disable retries
		retry.WithMax(10),
		retry.WithBackoff(retry.BackoffExponentialWithJitterBounded(100*time.Millisecond, 0.2, 5*time.Second)),
	}
	return grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
		invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		isRetriable := isRetriableByMethod[path.Base(method)]
		if isRetriable == nil {
			return invoker(ctx, method, req, reply, cc, opts...)
		}
		opts = append(opts[:len(opts):len(opts)], options...)
		return retrier(ctx, method, req, reply, cc, invoker, append(opts, retry.WithRetriable(isRetriable))...)
	})
}

// isRateLimited reports whether a server refused a request because of its rate limits. The details are checked because
// a message that is too large has the same code.
func isRateLimited(err error) bool {
	s := status.Convert(err)
	if s.Code() != codes.ResourceExhausted {
		return false
	}
	for _, d := range s.Details() {
		if _, isRateLimit := d.(*errordetails.ResourceExhaustedFailure); isRateLimit {
			return true
		}
	}
	return false
}

// isCanceled reports whether the server gave up a query although the caller still waits. That happens if the worker
// that has the query shuts down, or evicts the workflow, at that moment.
func isCanceled(err error) bool { return status.Code(err) == codes.Canceled }
