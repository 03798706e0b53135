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

// retriedMethods are requests made outside the SDK's own retries, by lists and deletes. A server rate-limits some of
// them: ten lists a second in a namespace.
var retriedMethods = map[string]bool{
	"ListWorkflowExecutions": true, "GetWorkflowExecutionHistory": true, "DeleteWorkflowExecution": true,
	"ListSchedules": true, "DescribeSchedule": true, "PatchSchedule": true,
}

// retryWhenLimited retries such a request, for some twenty seconds, if the server answers that its rate is exceeded.
func retryWhenLimited() grpc.DialOption {
	again := retry.UnaryClientInterceptor()
	options := []grpc.CallOption{ // after the SDK's options, which disable retries
		retry.WithMax(10), retry.WithRetriable(isLimited),
		retry.WithBackoff(retry.BackoffExponentialWithJitterBounded(100*time.Millisecond, 0.2, 5*time.Second)),
	}
	return grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
		invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if !retriedMethods[path.Base(method)] {
			return invoker(ctx, method, req, reply, cc, opts...)
		}
		return again(ctx, method, req, reply, cc, invoker, append(opts[:len(opts):len(opts)], options...)...)
	})
}

// isLimited reports whether a server has refused a request because it has taken many. A message that is too large has
// the same code.
func isLimited(err error) bool {
	s := status.Convert(err)
	if s.Code() != codes.ResourceExhausted {
		return false
	}
	for _, d := range s.Details() {
		if _, limited := d.(*errordetails.ResourceExhaustedFailure); limited {
			return true
		}
	}
	return false
}
