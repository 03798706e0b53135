package protocol_test

import (
	"testing"

	enumspb "go.temporal.io/api/enums/v1"

	"processidea/protocol"
)

func TestOnlyWhatHasEndedIsNotOpen(t *testing.T) {
	t.Parallel()
	open := map[string]bool{"Running": true, "Paused": true, "Unspecified": false, "Completed": false, "Failed": false,
		"Canceled": false, "Terminated": false, "ContinuedAsNew": false, "TimedOut": false}
	for name, value := range enumspb.WorkflowExecutionStatus_shorthandValue {
		want, known := open[name]
		if got := protocol.IsOpen(enumspb.WorkflowExecutionStatus(value)); !known || got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
