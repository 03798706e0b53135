package connect

import (
	"context"
	"net/url"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// resourceHeader is a routing hint that the SDK makes of every workflow id.
const resourceHeader = "temporal-resource-id"

// ASCIIHeadersOption allows any character in workflow ids. SDK 1.50 copies the workflow id into a gRPC header, and gRPC
// refuses headers that are not ASCII. Our own workflows have ASCII ids, but a query for any other id, such as
// "refunds/①", must return "not found". The header is a hint for routing between clusters, for which a percent-encoded
// id serves as well.
func ASCIIHeadersOption() grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
		invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		return invoker(encodeResourceHeader(ctx), method, req, reply, cc, opts...)
	})
}

func encodeResourceHeader(ctx context.Context) context.Context {
	md, ok := metadata.FromOutgoingContext(ctx)
	values := md.Get(resourceHeader)
	if !ok || len(values) == 0 {
		return ctx
	}
	encoded := make([]string, len(values))
	for i, v := range values {
		encoded[i] = url.PathEscape(v)
	}
	md = md.Copy()
	md.Set(resourceHeader, encoded...)
	return metadata.NewOutgoingContext(ctx, md)
}
