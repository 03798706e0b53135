package client

import (
	"context"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"processidea/client/internal/kind"
	"processidea/connect"
	"processidea/protocol"
	"processidea/store/chain"
	"processidea/store/signing"
)

// VerifyWithTemporal is Chain.Verify, and also compares every Idea with its digest in Temporal's history of the
// process. Write access to the store allows rewriting a chain with consistent digests, but not Temporal's history.
// Report.WitnessedIdeaCount counts the compared Ideas; a history past its retention witnesses none. With deciders it
// also checks the signatures of decisions.
func (c *Client) VerifyWithTemporal(ctx context.Context, processID string,
	deciderKeys *signing.Keys) (*chain.Report, error) {
	if _, err := c.Chain(processID).requireLatestIdeaNumber(ctx, "verify"); err != nil {
		return nil, err
	}
	digests, err := c.digestsInHistory(ctx, processID)
	if err != nil {
		return nil, kind.Errorf(ErrUnreachable, "verify %s: read Temporal's history: %w", processID, err)
	}
	archive := c.archive.WithDeciderKeys(deciderKeys)
	r, err := archive.chainStore.VerifyWitnessed(ctx, processID, digests, func(int, int) {})
	if err != nil {
		return nil, err
	}
	return r, archive.Chain(processID).verifyPartsAndDelegates(ctx, r)
}

// digestsInHistory reads the results of sealing from every run of a process that Temporal still has.
func (c *Client) digestsInHistory(ctx context.Context, processID string) (chain.WitnessedDigests, error) {
	digests := chain.WitnessedDigests{}
	for run, err := range c.Executions(ctx, fmt.Sprintf("WorkflowId = %q", processID)) {
		if err == nil {
			err = c.addSealedDigests(ctx, processID, run.GetExecution().GetRunId(), digests)
		}
		if err != nil {
			return nil, err
		}
	}
	return digests, nil
}

// addSealedDigests adds the digests of the Ideas that one run sealed.
func (c *Client) addSealedDigests(ctx context.Context, processID, runID string, digests chain.WitnessedDigests) error {
	reader := sealReader{decoder: connect.DataConverter(c.archive.blobStore.Keys()),
		activityTypeByEventID: map[int64]string{}}
	events := c.temporal.GetWorkflowHistory(ctx, processID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if isNotFound(err) {
			return nil // its retention ended meanwhile
		}
		if err != nil {
			return err
		}
		if s := reader.sealedIdeaRef(event); s.IdeaNumber > 0 && s.Digest != "" {
			digests.Add(s.IdeaNumber, s.Digest)
		}
	}
	return nil
}

// sealReader finds sealing activities among the events of one run.
type sealReader struct {
	decoder               converter.DataConverter
	activityTypeByEventID map[int64]string // types of activities, by the event that scheduled each
}

// sealedIdeaRef returns the Idea that an event reports as sealed; zero if it reports none.
func (r *sealReader) sealedIdeaRef(event *historypb.HistoryEvent) protocol.IdeaRef {
	switch {
	case event.GetActivityTaskScheduledEventAttributes() != nil:
		scheduled := event.GetActivityTaskScheduledEventAttributes()
		r.activityTypeByEventID[event.GetEventId()] = scheduled.GetActivityType().GetName()
	case event.GetActivityTaskCompletedEventAttributes() != nil:
		completed := event.GetActivityTaskCompletedEventAttributes()
		return r.sealResult(r.activityTypeByEventID[completed.GetScheduledEventId()], completed.GetResult())
	case event.GetMarkerRecordedEventAttributes() != nil:
		// For a local activity the SDK records its type under "data", and its result under "result".
		marker := event.GetMarkerRecordedEventAttributes()
		var local struct{ ActivityType string }
		if payloads := marker.GetDetails()["data"].GetPayloads(); len(payloads) == 1 &&
			converter.GetDefaultDataConverter().FromPayload(payloads[0], &local) == nil {
			return r.sealResult(local.ActivityType, marker.GetDetails()["result"])
		}
	}
	return protocol.IdeaRef{}
}

func (r *sealReader) sealResult(activityType string, resultPayloads *commonpb.Payloads) (s protocol.IdeaRef) {
	switch activityType {
	case protocol.ActivitySealIdea:
		_ = r.decoder.FromPayloads(resultPayloads, &s)
	case protocol.ActivityGatherParts:
		var g struct {
			Last protocol.IdeaRef `json:"last"`
		}
		_ = r.decoder.FromPayloads(resultPayloads, &g)
		s = g.Last
	}
	return s
}
