package connect

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"processidea/store/blobs"
)

// counter is a client of a Temporal that knows so many processes, or cannot say.
type counter struct {
	client.Client
	count int64
	err   error
}

func (c counter) CountWorkflow(context.Context,
	*workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	return &workflowservice.CountWorkflowExecutionsResponse{Count: c.count}, c.err
}

func TestAStoreIsBegunOnlyWhereTemporalSaysThatItKnowsNoProcess(t *testing.T) {
	t.Parallel()
	unavailable := serviceerror.NewUnavailable("not now")
	for name, c := range map[string]struct {
		counter
		want error
	}{
		"no process":    {counter{}, nil},
		"processes":     {counter{count: 3}, blobs.ErrUnavailable},
		"may not count": {counter{err: serviceerror.NewPermissionDenied("no", "")}, nil},
		"not there":     {counter{err: unavailable}, unavailable},
	} {
		if err := checkNoProcesses(t.Context(), c.counter, "/data"); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
