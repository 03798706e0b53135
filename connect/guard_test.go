package connect

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"processidea/store/blobs"
	"processidea/store/encryption"
)

func keys(t *testing.T, ids ...string) *encryption.Keys {
	t.Helper()
	var entries []string
	for _, id := range ids {
		entry, err := encryption.GenerateKey(id)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	k, err := encryption.Parse(strings.Join(entries, ","))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// frontend is a Temporal server that hands out what a test puts into it, and notes what it is answered.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
	mu       sync.Mutex
	task     *workflowservice.PollWorkflowTaskQueueResponse
	activity *workflowservice.PollActivityTaskQueueResponse
	history  *workflowservice.GetWorkflowExecutionHistoryResponse
	failed   []*workflowservice.RespondWorkflowTaskFailedRequest
	queried  []*workflowservice.RespondQueryTaskCompletedRequest
}

func (f *frontend) PollWorkflowTaskQueue(context.Context,
	*workflowservice.PollWorkflowTaskQueueRequest) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
	return f.task, nil
}

func (f *frontend) PollActivityTaskQueue(context.Context,
	*workflowservice.PollActivityTaskQueueRequest) (*workflowservice.PollActivityTaskQueueResponse, error) {
	return f.activity, nil
}

func (f *frontend) GetWorkflowExecutionHistory(context.Context, *workflowservice.GetWorkflowExecutionHistoryRequest) (
	*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	return f.history, nil
}

func (f *frontend) RespondWorkflowTaskCompleted(context.Context, *workflowservice.RespondWorkflowTaskCompletedRequest) (
	*workflowservice.RespondWorkflowTaskCompletedResponse, error) {
	return &workflowservice.RespondWorkflowTaskCompletedResponse{WorkflowTask: f.task}, nil
}

func (f *frontend) RespondWorkflowTaskFailed(_ context.Context, r *workflowservice.RespondWorkflowTaskFailedRequest) (
	*workflowservice.RespondWorkflowTaskFailedResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = append(f.failed, r)
	return &workflowservice.RespondWorkflowTaskFailedResponse{}, nil
}

func (f *frontend) RespondQueryTaskCompleted(_ context.Context, r *workflowservice.RespondQueryTaskCompletedRequest) (
	*workflowservice.RespondQueryTaskCompletedResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queried = append(f.queried, r)
	return &workflowservice.RespondQueryTaskCompletedResponse{}, nil
}

// behind puts a guard with keys between a worker and a frontend. The log is what the guard says.
func behind(t *testing.T, f *frontend, k *encryption.Keys) (c workflowservice.WorkflowServiceClient,
	said *bytes.Buffer) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, f)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	said = &bytes.Buffer{}
	logger := log.NewStructuredLogger(slog.New(slog.NewTextHandler(said, nil)))
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		decryptGuardOption(k, logger))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return workflowservice.NewWorkflowServiceClient(conn), said
}

// encrypted are payloads of a value, encrypted.
func encrypted(t *testing.T, k *encryption.Keys) *commonpb.Payloads {
	t.Helper()
	p, err := DataConverter(k).ToPayloads("hello")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// claimed is what stands for a payload in the store, as the SDK writes it.
func claimed(t *testing.T, k *encryption.Keys) *commonpb.Payloads {
	t.Helper()
	store, err := blobs.Open(t.Context(), t.TempDir(), blobs.WithKeys(k))
	if err != nil {
		t.Fatal(err)
	}
	h, err := converter.NewPayloadHTTPHandler(converter.PayloadHTTPHandlerOptions{
		PreStorageCodecs: []converter.PayloadCodec{Codec(k)}, ExternalStorage: store.ExternalStorage(),
	})
	if err != nil {
		t.Fatal(err)
	}
	large, _ := DataConverter(nil).ToPayloads(strings.Repeat("x", 2*blobs.InlineThreshold))
	return encodedBy(t, h, large)
}

// encodedBy sends payloads through a codec server.
func encodedBy(t *testing.T, h http.Handler, p *commonpb.Payloads) *commonpb.Payloads {
	t.Helper()
	body, err := protojson.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/encode", bytes.NewReader(body)))
	var out commonpb.Payloads
	if err := protojson.Unmarshal(w.Body.Bytes(), &out); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return &out
}

// started is a history that begins with payloads.
func started(p *commonpb.Payloads) *historypb.History {
	return &historypb.History{
		Events: []*historypb.HistoryEvent{{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: p},
		}}}}
}

// wentWrong is a history that tells of an activity's error.
func wentWrong(t *testing.T, k *encryption.Keys) *historypb.History {
	t.Helper()
	p, err := DataConverter(k).ToPayload(map[string]any{"message": "no"})
	if err != nil {
		t.Fatal(err)
	}
	return &historypb.History{
		Events: []*historypb.HistoryEvent{{Attributes: &historypb.HistoryEvent_ActivityTaskFailedEventAttributes{
			ActivityTaskFailedEventAttributes: &historypb.ActivityTaskFailedEventAttributes{
				Failure: &failurepb.Failure{EncodedAttributes: p}},
		}}}}
}

func TestAWorkflowTaskThatDoesNotOpenFailsAndNeverReachesTheWorker(t *testing.T) {
	t.Parallel()
	k1, k2 := keys(t, "k1"), keys(t, "k2")
	for name, h := range map[string]*historypb.History{
		"input": started(encrypted(t, k1)), "a claim": started(claimed(t, k1)), "an error": wentWrong(t, k1),
	} {
		f := &frontend{task: &workflowservice.PollWorkflowTaskQueueResponse{TaskToken: []byte("token"),
			Attempt: 1, History: h}}
		for n, ask := range []func(workflowservice.WorkflowServiceClient) (
			*workflowservice.PollWorkflowTaskQueueResponse, error){
			func(c workflowservice.WorkflowServiceClient) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
				return c.PollWorkflowTaskQueue(t.Context(),
					&workflowservice.PollWorkflowTaskQueueRequest{Namespace: "n", Identity: "i"})
			},
			func(c workflowservice.WorkflowServiceClient) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
				r, err := c.RespondWorkflowTaskCompleted(t.Context(),
					&workflowservice.RespondWorkflowTaskCompletedRequest{Namespace: "n", Identity: "i"})
				return r.GetWorkflowTask(), err
			},
		} {
			c, said := behind(t, f, k2)
			got, err := ask(c)
			// A poll finds nothing; after a completion there is no next task.
			if err != nil || len(got.GetTaskToken()) != 0 || got.GetHistory() != nil || (got == nil) != (n == 1) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			if len(f.failed) != n+1 || string(f.failed[n].GetTaskToken()) != "token" ||
				f.failed[n].GetNamespace() != "n" || f.failed[n].GetIdentity() != "i" ||
				!strings.Contains(f.failed[n].GetFailure().GetMessage(),
					"encrypted with key k1, which is not in PROCESSIDEA_KEYS") {
				t.Errorf("%s: %v", name, f.failed)
			}
			if _, _ = ask(c); strings.Count(said.String(), "key=k1 variable=PROCESSIDEA_KEYS") != 1 {
				t.Errorf("%s: %s", name, said)
			}
			f.failed = f.failed[:n+1]
		}
		c, said := behind(t, f, k1)
		got, err := c.PollWorkflowTaskQueue(t.Context(), &workflowservice.PollWorkflowTaskQueueRequest{})
		if err != nil || !proto.Equal(got, f.task) || said.Len() > 0 {
			t.Errorf("%s, with the key: %v, %v, %s", name, got, err, said)
		}
	}
}

func TestALaterAttemptOfAWorkflowTaskIsLeftToTimeOut(t *testing.T) {
	t.Parallel()
	f := &frontend{task: &workflowservice.PollWorkflowTaskQueueResponse{
		TaskToken: []byte("token"), Attempt: 2, History: started(encrypted(t, keys(t, "k1"))),
	}}
	c, _ := behind(t, f, nil)
	got, err := c.PollWorkflowTaskQueue(t.Context(), &workflowservice.PollWorkflowTaskQueueRequest{})
	if err != nil || len(got.GetTaskToken()) != 0 || len(f.failed) != 0 {
		t.Errorf("%v, %v, %v", got, err, f.failed)
	}
}

func TestAQueryThatDoesNotOpenIsAnsweredWithTheReason(t *testing.T) {
	t.Parallel()
	f := &frontend{task: &workflowservice.PollWorkflowTaskQueueResponse{
		TaskToken: []byte("token"), Query: &querypb.WorkflowQuery{}, History: started(encrypted(t, keys(t, "k1"))),
	}}
	c, _ := behind(t, f, nil)
	got, err := c.PollWorkflowTaskQueue(t.Context(), &workflowservice.PollWorkflowTaskQueueRequest{Namespace: "n"})
	if err != nil || len(got.GetTaskToken()) != 0 || len(f.queried) != 1 {
		t.Fatalf("%v, %v, %v", got, err, f.queried)
	}
	if q := f.queried[0]; q.GetCompletedType() != enumspb.QUERY_RESULT_TYPE_FAILED || q.GetNamespace() != "n" ||
		!strings.Contains(q.GetErrorMessage(), "key k1, and PROCESSIDEA_KEYS is not set") {
		t.Error(q)
	}
}

func TestAnActivityIsDroppedForAMissingKeyAndForNothingElse(t *testing.T) {
	t.Parallel()
	k1, impostor := keys(t, "k1"), keys(t, "k1")
	for n, row := range []struct {
		input *commonpb.Payloads
		keys  *encryption.Keys
		taken bool
	}{
		{encrypted(t, k1), k1, true}, {claimed(t, k1), k1, true}, {encrypted(t, nil), k1, true},
		{claimed(t, nil), nil, true},
		{encrypted(t, k1), impostor, true}, // it fails there, and says why
		{encrypted(t, k1), nil, false}, {encrypted(t, k1), keys(t, "k2"), false},
		{claimed(t, k1), keys(t, "k2"), false},
	} {
		f := &frontend{activity: &workflowservice.PollActivityTaskQueueResponse{TaskToken: []byte("token"),
			Input: row.input}}
		c, said := behind(t, f, row.keys)
		got, err := c.PollActivityTaskQueue(t.Context(), &workflowservice.PollActivityTaskQueueRequest{})
		if err != nil || (len(got.GetTaskToken()) > 0) != row.taken || (said.Len() > 0) == row.taken {
			t.Errorf("%d: %v, %v, %s", n, got, err, said)
		}
	}
}

func TestAHistoryThatDoesNotOpenIsAnErrorThatNamesTheKey(t *testing.T) {
	t.Parallel()
	f := &frontend{history: &workflowservice.GetWorkflowExecutionHistoryResponse{History: wentWrong(t, keys(t, "k1"))}}
	c, _ := behind(t, f, keys(t, "k2"))
	_, err := c.GetWorkflowExecutionHistory(t.Context(), &workflowservice.GetWorkflowExecutionHistoryRequest{})
	if status.Code(err) != codes.FailedPrecondition ||
		!strings.Contains(err.Error(), "key k1, which is not in PROCESSIDEA_KEYS") {
		t.Error(err)
	}
}

// The wiring: a client's options encrypt what they encode, and errors too.
func TestAClientsOptionsEncryptValuesAndErrorsWithTheStoresKeys(t *testing.T) {
	t.Parallel()
	for _, k := range []*encryption.Keys{nil, keys(t, "k1")} {
		store, err := blobs.Open(t.Context(), t.TempDir(), blobs.WithKeys(k))
		if err != nil {
			t.Fatal(err)
		}
		o := ClientOptions(client.Options{}, store)
		p, err := o.DataConverter.ToPayload("hello")
		if err != nil {
			t.Fatal(err)
		}
		f := o.FailureConverter.ErrorToFailure(final("tool_failed", "hello"))
		open := bytes.Contains(p.GetData(), []byte("hello"))
		if open != (k == nil) || strings.Contains(f.String(), "hello") != (k == nil) {
			t.Errorf("%v: %v, %v", k, p, f)
		}
		if got := o.FailureConverter.FailureToError(f); !strings.Contains(got.Error(), "hello") {
			t.Error(got)
		}
	}
}
