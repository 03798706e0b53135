package bed

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"go.temporal.io/api/history/v1"
)

// hop is one event of a history.
type hop struct {
	workflow string
	event    *history.HistoryEvent
}

func (h hop) at() time.Time { return h.event.GetEventTime().AsTime() }

// what names the event's type, and the activity, signal or marker that it is about.
func (h hop) what() string {
	kind := h.event.GetEventType().String()
	for _, name := range []string{
		h.event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName(),
		h.event.GetWorkflowExecutionSignaledEventAttributes().GetSignalName(),
		h.event.GetSignalExternalWorkflowExecutionInitiatedEventAttributes().GetSignalName(),
		h.event.GetMarkerRecordedEventAttributes().GetMarkerName(),
	} {
		if name != "" {
			return kind + " " + name
		}
	}
	return kind
}

// WriteHops appends every event of every workflow to a file in the order of time, a line each: milliseconds since the first,
// milliseconds since the one before, the workflow, the number of the event, and what it is.
func (b *Bed) WriteHops(ctx context.Context, path, title string) error {
	hops, err := b.hops(ctx)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write hops: %w", err)
	}
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, "# %s\n", title)
	for n, h := range hops {
		fmt.Fprintf(w, "%9.1f %7.1f  %-32s %4d %s\n",
			ms(h.at().Sub(hops[0].at())), ms(h.at().Sub(hops[max(n-1, 0)].at())), h.workflow, h.event.GetEventId(), h.what())
	}
	err = w.Flush()
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// hops lists every event in the order of time.
func (b *Bed) hops(ctx context.Context) (hops []hop, err error) {
	err = b.eachEvent(ctx, func(id string, e *history.HistoryEvent) { hops = append(hops, hop{id, e}) })
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(hops, func(a, b hop) int { return a.at().Compare(b.at()) })
	return hops, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
