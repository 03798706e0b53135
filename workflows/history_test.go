package workflows_test

import (
	"context"
	"regexp"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	"processidea/connect"
)

// history reads the events of a workflow's latest run as the server has them, once a worker has answered it: a run that
// just continued as new has nothing to replay yet.
func history(t *testing.T, id string) *historypb.History {
	t.Helper()
	return historyIn(t, server.Namespace(), id)
}

func historyIn(t *testing.T, namespace, id string) *historypb.History {
	t.Helper()
	raw, err := client.Dial(client.Options{
		HostPort: addressOf(namespace), Namespace: namespace, Logger: quiet{},
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{connect.ASCIIHeadersOption()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	var h *historypb.History
	eventually(t, "a worker has answered the latest run of "+id, func() bool {
		h = &historypb.History{}
		answered := false
		events := raw.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			h.Events = append(h.Events, e)
			answered = answered || e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
		}
		return answered
	})
	return h
}

// largestPayload gives the size of the largest payload in a workflow's history.
func largestPayload(t *testing.T, id string) int {
	t.Helper()
	largest := 0
	for _, e := range history(t, id).Events {
		err := proxy.VisitPayloads(context.Background(), e, proxy.VisitPayloadsOptions{
			Visitor: func(_ *proxy.VisitPayloadsContext, ps []*commonpb.Payload) ([]*commonpb.Payload, error) {
				for _, p := range ps {
					largest = max(largest, len(p.GetData()))
				}
				return ps, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return largest
}

// claimsIn lists the digests of the stored payloads that a history, as JSON, refers to.
func claimsIn(t *testing.T, text string) []string {
	t.Helper()
	h := &historypb.History{}
	if err := protojson.Unmarshal([]byte(text), h); err != nil {
		t.Fatal(err)
	}
	var digests []string
	for _, e := range h.Events {
		err := proxy.VisitPayloads(context.Background(), e, proxy.VisitPayloadsOptions{
			Visitor: func(_ *proxy.VisitPayloadsContext, ps []*commonpb.Payload) ([]*commonpb.Payload, error) {
				for _, p := range ps {
					digests = append(digests,
						regexp.MustCompile(`"sha256":\s*"([0-9a-f]{64})"`).FindAllString(string(p.GetData()), -1)...)
				}
				return ps, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, d := range digests {
		digests[i] = d[len(d)-65 : len(d)-1]
	}
	return digests
}
