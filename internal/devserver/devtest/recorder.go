package devtest

import (
	"fmt"
	"maps"
	"net"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// Recorder stands between programs and a Temporal server, and records what they ask of it.
type Recorder struct {
	address string
	conn    *grpc.ClientConn // to the server

	mu            sync.Mutex
	countByMethod map[string]int
	signalTimes   map[string][]time.Time
}

// StartRecorder starts a Recorder before the server at an address. It ends with the test.
func StartRecorder(t testing.TB, server string) *Recorder {
	t.Helper()
	const maxMessageBytes = 64 << 20
	conn, err := grpc.NewClient("passthrough:///"+server, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{}), grpc.MaxCallRecvMsgSize(maxMessageBytes)))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &Recorder{address: listener.Addr().String(), conn: conn, countByMethod: map[string]int{},
		signalTimes: map[string][]time.Time{}}
	s := grpc.NewServer(grpc.ForceServerCodec(bytesCodec{}), grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.UnknownServiceHandler(r.forward), // and as Temporal itself takes its clients' signs of life:
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}))
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(func() {
		s.Stop()
		_ = conn.Close()
	})
	return r
}

// Address is where the programs reach the server through the Recorder, as host:port.
func (r *Recorder) Address() string { return r.address }

// CountByMethod is how often each method was asked for.
func (r *Recorder) CountByMethod() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.countByMethod)
}

// SignalTimes is when each workflow was sent a signal, by its id: by a request of its own, or by a workflow's command.
func (r *Recorder) SignalTimes() map[string][]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	times := maps.Clone(r.signalTimes)
	for id := range times {
		times[id] = slices.Clone(times[id])
	}
	return times
}

// forward hands a request on as it is, whatever it asks for.
func (r *Recorder) forward(_ any, stream grpc.ServerStream) error {
	fullMethod, _ := grpc.MethodFromServerStream(stream)
	var request, answer []byte
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	if err := r.record(path.Base(fullMethod), request); err != nil {
		return err
	}
	headers, _ := metadata.FromIncomingContext(stream.Context())
	if err := r.conn.Invoke(metadata.NewOutgoingContext(stream.Context(), headers), fullMethod, &request,
		&answer); err != nil {
		return err
	}
	return stream.SendMsg(&answer)
}

func (r *Recorder) record(method string, request []byte) error {
	var targets []string
	switch method {
	case "SignalWorkflowExecution":
		var s workflowservice.SignalWorkflowExecutionRequest
		if err := proto.Unmarshal(request, &s); err != nil {
			return err
		}
		targets = append(targets, s.GetWorkflowExecution().GetWorkflowId())
	case "RespondWorkflowTaskCompleted":
		var s workflowservice.RespondWorkflowTaskCompletedRequest
		if err := proto.Unmarshal(request, &s); err != nil {
			return err
		}
		for _, c := range s.GetCommands() {
			if c.GetCommandType() == enumspb.COMMAND_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION {
				targets = append(targets,
					c.GetSignalExternalWorkflowExecutionCommandAttributes().GetExecution().GetWorkflowId())
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.countByMethod[method]++
	for _, id := range targets {
		r.signalTimes[id] = append(r.signalTimes[id], time.Now())
	}
	return nil
}

// bytesCodec leaves messages as they are.
type bytesCodec struct{}

func (bytesCodec) Marshal(v any) ([]byte, error) {
	b, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("devtest: marshal a message: it is %T, not bytes", v)
	}
	return *b, nil
}

func (bytesCodec) Unmarshal(data []byte, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("devtest: unmarshal a message: it is to be %T, not bytes", v)
	}
	*b = slices.Clone(data)
	return nil
}

// Name is that of the codec whose bytes these are.
func (bytesCodec) Name() string { return "proto" }
