package connect

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"processidea/internal/safego"
)

// recoverPanicsOption turns a panic in a request's interceptors into an error of that request. The SDK polls for tasks
// on goroutines that recover no panic.
func recoverPanicsOption() grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
		invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		var callErr error
		if err := safego.Run("connect.grpc", func() error {
			callErr = invoker(ctx, method, req, reply, cc, opts...)
			return nil
		}); err != nil {
			return status.Error(codes.Internal, err.Error())
		}
		return callErr
	})
}
