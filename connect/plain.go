package connect

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// explainErrorsOption replaces gRPC's texts for connection errors by what failed, at which address, and what to do.
// People see these errors in every user interface.
func explainErrorsOption() grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
		invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		return explainConnectionError(invoker(ctx, method, req, reply, cc, opts...), cc.Target())
	})
}

// explainConnectionError leaves Temporal's own errors as they are, except for a missing namespace. It changes one code
// only: at its deadline a server may cancel a stream before the client's own clock runs out, so such a Canceled becomes
// DeadlineExceeded.
func explainConnectionError(err error, target string) error {
	s := status.Convert(err)
	code := s.Code()
	messageContainsAny := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s.Message(), part) })
	}
	advice := ""
	switch {
	case code == codes.NotFound && messageContainsAny("Namespace "):
		p := s.Proto() // with its details, from which the SDK recognizes the error
		p.Message += " Make it (temporal operator namespace create), or set TEMPORAL_NAMESPACE to one that is there."
		return status.ErrorProto(p)
	case len(s.Details()) > 0:
	case code == codes.DeadlineExceeded, code == codes.Canceled && messageContainsAny("RST_STREAM"):
		code, advice = codes.DeadlineExceeded, "no answer came in time"
	case code != codes.Unavailable && code != codes.Internal:
	case messageContainsAny("connection refused"):
		advice = "nothing listens there: start Temporal, or set TEMPORAL_ADDRESS to where it is"
	case messageContainsAny("no such host", "zero addresses"):
		advice = "no machine has this name: set TEMPORAL_ADDRESS to where it is"
	case messageContainsAny("tls:", "x509:", "handshake"):
		advice = "the connection is not trusted (" + s.Message() + "): see TEMPORAL_TLS and its kin"
	case messageContainsAny("RST_STREAM", "reading from server", "transport is closing", "connection reset",
		"broken pipe", "EOF"):
		advice = "the connection broke off; if this goes on, check Temporal and any proxy in front of it"
	}
	if advice == "" {
		return err
	}
	return status.Error(code, "Temporal at "+target[strings.LastIndex(target, "/")+1:]+": "+advice)
}
