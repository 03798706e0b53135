package connect

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/errordetails/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"processidea/store/blobs"
)

func TestErrorsOfTheConnectionSayWhereWhyAndWhatToDo(t *testing.T) {
	t.Parallel()
	limited, err := status.New(codes.Unavailable, "EOF").WithDetails(&errordetails.ResourceExhaustedFailure{})
	if err != nil {
		t.Fatal(err)
	}
	const at = "Temporal at t.example.com:7233: "
	for _, c := range []struct {
		code          codes.Code
		message, want string
		wantCode      codes.Code
	}{
		{codes.Canceled, "stream terminated by RST_STREAM with error code: CANCEL", at + "no answer came in time",
			codes.DeadlineExceeded},
		{codes.DeadlineExceeded, "context deadline exceeded", at + "no answer came in time", codes.DeadlineExceeded},
		{codes.Canceled, "context canceled", "context canceled", codes.Canceled},
		{codes.Unavailable, "connection error: desc = \"transport: Error while dialing: dial tcp 127.0.0.1:1: " +
			"connect: connection refused\"", at + "nothing listens there", codes.Unavailable},
		{codes.Unavailable, "name resolver error: produced zero addresses", at + "no machine", codes.Unavailable},
		{codes.Unavailable, "connection error: desc = \"transport: authentication handshake failed: tls: " +
			"first record does not look like a TLS handshake\"", "TEMPORAL_TLS", codes.Unavailable},
		{codes.Internal, "stream terminated by RST_STREAM with error code: INTERNAL_ERROR",
			at + "the connection broke off", codes.Internal},
		{codes.Unavailable, "error reading from server: EOF", at + "the connection broke off", codes.Unavailable},
		{codes.InvalidArgument, "the query has an EOF in it", "the query has an EOF in it", codes.InvalidArgument},
		{codes.Unavailable, "shard is unknown", "shard is unknown", codes.Unavailable},
		{codes.NotFound, "Namespace a is not found.", "not found. Make it (", codes.NotFound},
		{codes.NotFound, "workflow not found", "workflow not found", codes.NotFound},
	} {
		got := status.Convert(explainConnectionError(status.Error(c.code, c.message), "dns:///t.example.com:7233"))
		if got.Code() != c.wantCode || !strings.Contains(got.Message(), c.want) {
			t.Errorf("%s is said as %s", c.message, got)
		}
	}
	for _, err := range []error{nil, limited.Err(), errors.New("none of gRPC")} {
		if got := explainConnectionError(err, "x"); got != err { //nolint:errorlint // the very same
			t.Errorf("%v becomes %v", err, got)
		}
	}
}

// What a person sees where Temporal is not.
func TestAServerThatIsNotThereIsSaidPlainly(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	store, err := blobs.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{"127.0.0.1:1": "Temporal at 127.0.0.1:1: nothing listens there",
		silent.Addr().String(): "Temporal at " + silent.Addr().String() + ": no answer came in time"} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := client.DialContext(ctx, ClientOptions(client.Options{HostPort: address}, store))
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
