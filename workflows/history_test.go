package workflows_test

import (
	"context"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"processidea/worker/engine"
)

// history reads a workflow's events as the server has them.
func history(t *testing.T, id string) *historypb.History {
	t.Helper()
	h := &historypb.History{}
	raw, err := client.Dial(client.Options{
		HostPort: server.Address(), Namespace: server.Namespace(), Logger: quiet{},
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{engine.ASCIIHeaders()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	events := raw.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		h.Events = append(h.Events, e)
	}
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
